// The table of functions. A signature reads "list(A),A -> bool"; a leading dot makes it a member
// function, whose first argument is the receiver; single capitals are type parameters.
#include <algorithm>
#include <unordered_map>

#include "api/cel/functions.h"
#include "base/check.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

struct Row {
  const char* name;
  Implementation call;
  const char* signature;
  Cost cost = Cost::One;
};

constexpr Row kRows[] = {
    // Operators.
    {"_&&_", nullptr, "bool,bool->bool", Cost::Logical},
    {"_||_", nullptr, "bool,bool->bool", Cost::Logical},
    {"_?_:_", nullptr, "bool,A,A->A", Cost::Conditional},
    {"!_", call_not, "bool->bool"},
    {"@not_strictly_false", nullptr, "bool->bool"},
    {"-_", call_negate, "int->int"},
    {"-_", call_negate, "double->double"},
    {"_==_", call_equal, "A,A->bool", Cost::Equality},
    {"_!=_", call_not_equal, "A,A->bool", Cost::Equality},
    {"_+_", call_add, "int,int->int"},
    {"_+_", call_add, "uint,uint->uint"},
    {"_+_", call_add, "double,double->double"},
    {"_+_", call_add, "string,string->string", Cost::AddText},
    {"_+_", call_add, "bytes,bytes->bytes", Cost::AddText},
    {"_+_", call_add, "list(A),list(A)->list(A)", Cost::AddList},
    {"_+_", call_add, "duration,duration->duration"},
    {"_+_", call_add, "duration,timestamp->timestamp"},
    {"_+_", call_add, "timestamp,duration->timestamp"},
    {"_-_", call_subtract, "int,int->int"},
    {"_-_", call_subtract, "uint,uint->uint"},
    {"_-_", call_subtract, "double,double->double"},
    {"_-_", call_subtract, "duration,duration->duration"},
    {"_-_", call_subtract, "timestamp,duration->timestamp"},
    {"_-_", call_subtract, "timestamp,timestamp->duration"},
    {"_*_", call_multiply, "int,int->int"},
    {"_*_", call_multiply, "uint,uint->uint"},
    {"_*_", call_multiply, "double,double->double"},
    {"_/_", call_divide, "int,int->int"},
    {"_/_", call_divide, "uint,uint->uint"},
    {"_/_", call_divide, "double,double->double"},
    {"_%_", call_modulo, "int,int->int"},
    {"_%_", call_modulo, "uint,uint->uint"},
    {"@in", call_in, "A,list(A)->bool", Cost::InList},
    {"@in", call_in, "A,map(A,B)->bool"},
    {"_[_]", nullptr, "list(A),int->A", Cost::IndexList},
    {"_[_]", nullptr, "map(A,B),A->B", Cost::IndexMap},
    {"_[_]", nullptr, "optional(list(A)),int->optional(A)"},
    {"_[_]", nullptr, "optional(map(A,B)),A->optional(B)"},
    {"_[?_]", nullptr, "list(A),int->optional(A)"},
    {"_[?_]", nullptr, "optional(list(A)),int->optional(A)"},
    {"_[?_]", nullptr, "map(A,B),A->optional(B)"},
    {"_[?_]", nullptr, "optional(map(A,B)),A->optional(B)"},
    {"_?._", nullptr, "dyn,string->optional(A)"},

    // Conversions.
    {"int", call_int, "int->int"},
    {"int", call_int, "double->int"},
    {"int", call_int, "duration->int"},
    {"int", call_int, "string->int"},
    {"int", call_int, "timestamp->int"},
    {"int", call_int, "uint->int"},
    {"uint", call_uint, "uint->uint"},
    {"uint", call_uint, "double->uint"},
    {"uint", call_uint, "int->uint"},
    {"uint", call_uint, "string->uint"},
    {"double", call_double, "double->double"},
    {"double", call_double, "int->double"},
    {"double", call_double, "string->double"},
    {"double", call_double, "uint->double"},
    {"bool", call_bool, "bool->bool"},
    {"bool", call_bool, "string->bool"},
    {"bytes", call_bytes, "bytes->bytes"},
    {"bytes", call_bytes, "string->bytes", Cost::TextToBytes},
    {"string", call_string, "string->string"},
    {"string", call_string, "bool->string"},
    {"string", call_string, "bytes->string", Cost::BytesToText},
    {"string", call_string, "double->string"},
    {"string", call_string, "duration->string"},
    {"string", call_string, "int->string"},
    {"string", call_string, "timestamp->string"},
    {"string", call_string, "uint->string"},
    {"string", call_string, "IP->string"},
    {"string", call_string, "CIDR->string"},
    {"timestamp", call_timestamp, "timestamp->timestamp"},
    {"timestamp", call_timestamp, "int->timestamp"},
    {"timestamp", call_timestamp, "string->timestamp"},
    {"duration", call_duration, "duration->duration"},
    {"duration", call_duration, "int->duration"},
    {"duration", call_duration, "string->duration"},
    {"type", call_type, "A->type(A)"},
    {"dyn", call_dyn, "A->dyn"},

    {"size", call_size, ".string->int"},
    {"size", call_size, ".bytes->int"},
    {"size", call_size, ".list(A)->int"},
    {"size", call_size, ".map(A,B)->int"},
    {"size", call_size, "string->int"},
    {"size", call_size, "bytes->int"},
    {"size", call_size, "list(A)->int"},
    {"size", call_size, "map(A,B)->int"},
    {"cel.@mapInsert", call_map_insert, "map(A,B),A,B->map(A,B)"},
    {"cel.@mapInsert", call_map_insert, "map(A,B),map(A,B)->map(A,B)"},

    // Strings.
    {"contains", call_contains, ".string,string->bool", Cost::Contains},
    {"startsWith", call_starts_with, ".string,string->bool", Cost::StartsWith},
    {"endsWith", call_ends_with, ".string,string->bool", Cost::StartsWith},
    {"matches", call_matches, ".string,string->bool", Cost::Matches},
    {"matches", call_matches, "string,string->bool", Cost::Matches},
    {"find", call_find, ".string,string->string", Cost::Find},
    {"findAll", call_find_all, ".string,string->list(string)", Cost::Find},
    {"findAll", call_find_all, ".string,string,int->list(string)", Cost::Find},
    {"charAt", call_char_at, ".string,int->string"},
    {"indexOf", call_index_of, ".string,string->int", Cost::EachItem},
    {"indexOf", call_index_of, ".string,string,int->int", Cost::EachItem},
    {"indexOf", call_index_of, ".list(A),A->int", Cost::EachItem},
    {"lastIndexOf", call_last_index_of, ".string,string->int", Cost::EachItem},
    {"lastIndexOf", call_last_index_of, ".string,string,int->int", Cost::EachItem},
    {"lastIndexOf", call_last_index_of, ".list(A),A->int", Cost::EachItem},
    {"lowerAscii", call_lower_ascii, ".string->string", Cost::SameText},
    {"upperAscii", call_upper_ascii, ".string->string", Cost::SameText},
    {"replace", call_replace, ".string,string,string->string", Cost::Replace},
    {"replace", call_replace, ".string,string,string,int->string", Cost::Replace},
    {"split", call_split, ".string,string->list(string)", Cost::Split},
    {"split", call_split, ".string,string,int->list(string)", Cost::Split},
    {"join", call_join, ".list(string)->string", Cost::Join},
    {"join", call_join, ".list(string),string->string", Cost::Join},
    {"substring", call_substring, ".string,int->string", Cost::SameText},
    {"substring", call_substring, ".string,int,int->string", Cost::SameText},
    {"trim", call_trim, ".string->string", Cost::SameText},
    {"format", call_format, ".string,list(dyn)->string", Cost::Format},
    {"strings.quote", call_quote, "string->string"},

    // Timestamps and durations.
    {"getFullYear", call_get_full_year, ".timestamp->int"},
    {"getFullYear", call_get_full_year, ".timestamp,string->int"},
    {"getMonth", call_get_month, ".timestamp->int"},
    {"getMonth", call_get_month, ".timestamp,string->int"},
    {"getDate", call_get_date, ".timestamp->int"},
    {"getDate", call_get_date, ".timestamp,string->int"},
    {"getDayOfMonth", call_get_day_of_month, ".timestamp->int"},
    {"getDayOfMonth", call_get_day_of_month, ".timestamp,string->int"},
    {"getDayOfWeek", call_get_day_of_week, ".timestamp->int"},
    {"getDayOfWeek", call_get_day_of_week, ".timestamp,string->int"},
    {"getDayOfYear", call_get_day_of_year, ".timestamp->int"},
    {"getDayOfYear", call_get_day_of_year, ".timestamp,string->int"},
    {"getHours", call_get_hours, ".timestamp->int"},
    {"getHours", call_get_hours, ".timestamp,string->int"},
    {"getHours", call_get_hours, ".duration->int"},
    {"getMinutes", call_get_minutes, ".timestamp->int"},
    {"getMinutes", call_get_minutes, ".timestamp,string->int"},
    {"getMinutes", call_get_minutes, ".duration->int"},
    {"getSeconds", call_get_seconds, ".timestamp->int"},
    {"getSeconds", call_get_seconds, ".timestamp,string->int"},
    {"getSeconds", call_get_seconds, ".duration->int"},
    {"getMilliseconds", call_get_milliseconds, ".timestamp->int"},
    {"getMilliseconds", call_get_milliseconds, ".timestamp,string->int"},
    {"getMilliseconds", call_get_milliseconds, ".duration->int"},

    // Lists and sets.
    {"sum", call_sum, ".list(int)->int", Cost::EachItem},
    {"sum", call_sum, ".list(uint)->uint", Cost::EachItem},
    {"sum", call_sum, ".list(double)->double", Cost::EachItem},
    {"sum", call_sum, ".list(duration)->duration", Cost::EachItem},
    {"sets.contains", call_sets_contains, "list(A),list(A)->bool", Cost::Sets},
    {"sets.equivalent", call_sets_equivalent, "list(A),list(A)->bool", Cost::SetsBoth},
    {"sets.intersects", call_sets_intersects, "list(A),list(A)->bool", Cost::Sets},
    {"slice", call_slice, ".list(A),int,int->list(A)", Cost::ListSlice},
    {"flatten", call_flatten, ".list(list(A))->list(A)", Cost::ListCopy},
    {"flatten", call_flatten, ".list(dyn),int->list(dyn)", Cost::ListCopy},
    {"reverse", call_reverse, ".list(A)->list(A)", Cost::ListCopy},
    {"distinct", call_distinct, ".list(A)->list(A)", Cost::ListSort},
    {"lists.range", call_range, "int->list(int)", Cost::ListRange},
    {"first", call_first, ".list(A)->optional(A)"},
    {"last", call_last, ".list(A)->optional(A)"},

    // Optional values.
    {"optional.of", call_optional_of, "A->optional(A)"},
    {"optional.ofNonZeroValue", call_optional_of_non_zero, "A->optional(A)"},
    {"optional.none", call_optional_none, "->optional(A)"},
    {"value", call_optional_value, ".optional(A)->A"},
    {"hasValue", call_optional_has_value, ".optional(A)->bool"},
    {"or", nullptr, ".optional(A),optional(A)->optional(A)"},
    {"orValue", nullptr, ".optional(A),A->A"},
    {"optional.unwrap", call_optional_unwrap, "list(optional(A))->list(A)"},
    {"unwrapOpt", call_optional_unwrap, ".list(optional(A))->list(A)"},

    // Addresses and URLs.
    {"ip", call_ip, "string->IP", Cost::Parse},
    {"ip", call_ip, ".CIDR->IP", Cost::Nominal},
    {"isIP", call_is_ip, "string->bool", Cost::Parse},
    {"ip.isCanonical", call_ip_is_canonical, "string->bool", Cost::ParseTwice},
    {"family", call_ip_family, ".IP->int", Cost::Nominal},
    {"isUnspecified", call_ip_is_unspecified, ".IP->bool", Cost::Nominal},
    {"isLoopback", call_ip_is_loopback, ".IP->bool", Cost::Nominal},
    {"isLinkLocalMulticast", call_ip_is_link_local_multicast, ".IP->bool", Cost::Nominal},
    {"isLinkLocalUnicast", call_ip_is_link_local_unicast, ".IP->bool", Cost::Nominal},
    {"isGlobalUnicast", call_ip_is_global_unicast, ".IP->bool", Cost::Nominal},
    {"cidr", call_cidr, "string->CIDR", Cost::Parse},
    {"isCIDR", call_is_cidr, "string->bool", Cost::Parse},
    {"containsIP", call_contains_ip, ".CIDR,string->bool", Cost::ContainsIpText},
    {"containsIP", call_contains_ip, ".CIDR,IP->bool", Cost::ContainsIp},
    {"containsCIDR", call_contains_cidr, ".CIDR,string->bool", Cost::ContainsCidrText},
    {"containsCIDR", call_contains_cidr, ".CIDR,CIDR->bool", Cost::ContainsCidr},
    {"masked", call_masked, ".CIDR->CIDR", Cost::Nominal},
    {"prefixLength", call_prefix_length, ".CIDR->int", Cost::Nominal},
    {"url", call_url, "string->URL", Cost::Url},
    {"isURL", call_is_url, "string->bool"},
    {"getScheme", call_get_scheme, ".URL->string", Cost::Nominal},
    {"getHost", call_get_host, ".URL->string", Cost::Nominal},
    {"getHostname", call_get_hostname, ".URL->string", Cost::Nominal},
    {"getPort", call_get_port, ".URL->string", Cost::Nominal},
    {"getEscapedPath", call_get_escaped_path, ".URL->string", Cost::Nominal},
    {"getQuery", call_get_query, ".URL->map(string,list(string))", Cost::Nominal},

    // Quantities, versions.
    {"quantity", call_quantity, "string->Quantity", Cost::Parse},
    {"isQuantity", call_is_quantity, "string->bool", Cost::Parse},
    {"sign", call_sign, "Quantity->int", Cost::Nominal},
    {"isGreaterThan", call_is_greater_than, ".Quantity,Quantity->bool", Cost::Nominal},
    {"isGreaterThan", call_is_greater_than, ".Semver,Semver->bool", Cost::Nominal},
    {"isLessThan", call_is_less_than, ".Quantity,Quantity->bool", Cost::Nominal},
    {"isLessThan", call_is_less_than, ".Semver,Semver->bool", Cost::Nominal},
    {"compareTo", call_compare_to, ".Quantity,Quantity->int", Cost::Nominal},
    {"compareTo", call_compare_to, ".Semver,Semver->int", Cost::Nominal},
    {"asInteger", call_as_integer, ".Quantity->int", Cost::Nominal},
    {"isInteger", call_is_integer, ".Quantity->bool", Cost::Nominal},
    {"asApproximateFloat", call_as_approximate_float, ".Quantity->double", Cost::Nominal},
    {"add", call_quantity_add, ".Quantity,Quantity->Quantity", Cost::Nominal},
    {"add", call_quantity_add, ".Quantity,int->Quantity", Cost::Nominal},
    {"sub", call_quantity_sub, ".Quantity,Quantity->Quantity", Cost::Nominal},
    {"sub", call_quantity_sub, ".Quantity,int->Quantity", Cost::Nominal},
    {"semver", call_semver, "string->Semver", Cost::Parse},
    {"semver", call_semver, "string,bool->Semver", Cost::Parse},
    {"isSemver", call_is_semver, "string->bool", Cost::Parse},
    {"isSemver", call_is_semver, "string,bool->bool", Cost::Parse},
    {"major", call_semver_major, ".Semver->int", Cost::Nominal},
    {"minor", call_semver_minor, ".Semver->int", Cost::Nominal},
    {"patch", call_semver_patch, ".Semver->int", Cost::Nominal},

    // Named formats.
    {"format.dns1123Label", call_format_named<0>, "->Format"},
    {"format.dns1123Subdomain", call_format_named<1>, "->Format"},
    {"format.dns1035Label", call_format_named<2>, "->Format"},
    {"format.qualifiedName", call_format_named<3>, "->Format"},
    {"format.dns1123LabelPrefix", call_format_named<4>, "->Format"},
    {"format.dns1123SubdomainPrefix", call_format_named<5>, "->Format"},
    {"format.dns1035LabelPrefix", call_format_named<6>, "->Format"},
    {"format.labelValue", call_format_named<7>, "->Format"},
    {"format.uri", call_format_named<8>, "->Format"},
    {"format.uuid", call_format_named<9>, "->Format"},
    {"format.byte", call_format_named<10>, "->Format"},
    {"format.date", call_format_named<11>, "->Format"},
    {"format.datetime", call_format_named<12>, "->Format"},
    {"format.named", call_format_by_name, "string->optional(Format)", Cost::Nominal},
    {"validate", call_validate, ".Format,string->optional(list(string))", Cost::Validate},
};

constexpr const char* kOrdered[] = {"int",      "uint",      "double", "bool",
                                    "duration", "timestamp", "string", "bytes"};

// The kubernetes libraries' names of their types.
struct Named {
  std::string_view short_name, name;
};
constexpr Named kOpaque[] = {{"IP", "net.IP"},
                             {"CIDR", "net.CIDR"},
                             {"URL", "kubernetes.URL"},
                             {"Quantity", "kubernetes.Quantity"},
                             {"Semver", "kubernetes.Semver"},
                             {"Format", "kubernetes.NamedFormat"}};

constexpr std::pair<std::string_view, TypeKind> kSimple[] = {{"bool", TypeKind::Bool},
                                                             {"int", TypeKind::Int},
                                                             {"uint", TypeKind::Uint},
                                                             {"double", TypeKind::Double},
                                                             {"string", TypeKind::String},
                                                             {"bytes", TypeKind::Bytes},
                                                             {"timestamp", TypeKind::Timestamp},
                                                             {"duration", TypeKind::Duration},
                                                             {"dyn", TypeKind::Dyn},
                                                             {"type", TypeKind::Type},
                                                             {"null_type", TypeKind::Null}};

TypePtr variable(int number) {
  auto out = std::make_shared<Type>();
  out->kind = TypeKind::Var;
  out->var = number;
  return out;
}

class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  Overload read() {
    Overload out;
    out.member = take('.');
    if (text_[0] != '-') {
      do {
        out.args.push_back(type());
      } while (take(','));
    }
    CHECK_MSG(take('-') && take('>'), "a signature has an arrow");
    out.result = type();
    CHECK_MSG(text_.empty(), "a signature ends after its result");
    out.variables = variables_;
    return out;
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  TypePtr type() {
    const std::size_t end = std::min(text_.find_first_of("(),-"), text_.size());
    const std::string_view name = text_.substr(0, end);
    text_.remove_prefix(end);
    if (name == "A" || name == "B") {
      const int number = name[0] - 'A';
      variables_ = std::max(variables_, number + 1);
      return variable(number);
    }
    std::vector<TypePtr> params;
    if (take('(')) {
      do {
        params.push_back(type());
      } while (take(','));
      take(')');
    }
    if (name == "list") return list_type(params.at(0));
    if (name == "map") return map_type(params.at(0), params.at(1));
    if (name == "optional") return optional_type(params.at(0));
    if (name == "type" && !params.empty()) return type_type(params[0]);
    for (const auto& [simple, kind] : kSimple) {
      if (simple == name) return simple_type(kind);
    }
    for (const Named& opaque : kOpaque) {
      if (opaque.short_name == name) return opaque_type(std::string(opaque.name));
    }
    CHECK_MSG(false, "a signature names an unknown type");
    return nullptr;
  }

  std::string_view text_;
  int variables_ = 0;
};

using Table = std::unordered_map<std::string, Function>;

void add(Table& table, const Row& row) {
  Function& function = table[row.name];
  function.name = row.name;
  function.call = row.call;
  Overload overload = SignatureReader(row.signature).read();
  overload.cost = row.cost;
  function.overloads.push_back(std::move(overload));
}

bool is_number(std::string_view type) {
  return type == "int" || type == "uint" || type == "double";
}

void add_orders(Table& table) {
  struct Operator {
    const char* name;
    Implementation call;
  };
  constexpr Operator kOperators[] = {{"_<_", call_less},
                                     {"_<=_", call_less_equal},
                                     {"_>_", call_greater},
                                     {"_>=_", call_greater_equal}};
  for (const Operator& op : kOperators) {
    for (const std::string_view left : kOrdered) {
      for (const std::string_view right : kOrdered) {
        if (left != right && !(is_number(left) && is_number(right))) continue;
        const std::string signature = std::string(left) + "," + std::string(right) + "->bool";
        const bool text = left == "string" || left == "bytes";
        add(table, Row{op.name, op.call, signature.c_str(), text ? Cost::Order : Cost::One});
      }
    }
  }
  for (const std::string_view item : kOrdered) {
    const std::string list = ".list(" + std::string(item) + ")->";
    const std::string sorted = list + "bool";
    const std::string same = list + std::string(item);
    const std::string copy = list + "list(" + std::string(item) + ")";
    add(table, Row{"isSorted", call_is_sorted, sorted.c_str(), Cost::EachItem});
    add(table, Row{"min", call_min, same.c_str(), Cost::EachItem});
    add(table, Row{"max", call_max, same.c_str(), Cost::EachItem});
    add(table, Row{"sort", call_sort, copy.c_str(), Cost::ListSort});
  }
}

const Table& table() {
  static const Table out = [] {
    Table made;
    for (const Row& row : kRows) add(made, row);
    add_orders(made);
    return made;
  }();
  return out;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = table().find(std::string(name));
  return found == table().end() ? nullptr : &found->second;
}

TypePtr find_type(std::string_view name) {
  if (name == "list") return list_type(simple_type(TypeKind::Dyn));
  if (name == "map") return map_type(simple_type(TypeKind::Dyn), simple_type(TypeKind::Dyn));
  if (name == "optional_type") return optional_type(simple_type(TypeKind::Dyn));
  if (name == "google.protobuf.Timestamp") return simple_type(TypeKind::Timestamp);
  if (name == "google.protobuf.Duration") return simple_type(TypeKind::Duration);
  if (name == "timestamp" || name == "duration" || name == "dyn") return nullptr;
  for (const auto& [simple, kind] : kSimple) {
    if (simple == name) return simple_type(kind);
  }
  for (const Named& opaque : kOpaque) {
    if (opaque.name == name) return opaque_type(std::string(name));
  }
  return nullptr;
}

}  // namespace krater::cel
