// Named formats: what a name, a label or a date has to look like, with Kubernetes' explanations.
#include <algorithm>
#include <array>

#include "api/cel/functions.h"
#include "api/cel/times.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;
using Problems = std::vector<std::string>;

void add(Problems& problems, std::string problem) {
  if (!problem.empty()) problems.push_back(std::move(problem));
}

// A generateName may end in a dash: what follows makes it legal.
std::string without_dash(std::string_view text) {
  return std::string(text.ends_with('-') ? text.substr(0, text.size() - 1) : text) +
         (text.ends_with('-') && text.size() > 1 ? "a" : "");
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_label_text(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

Problems qualified_name(std::string_view text) {
  Problems out;
  constexpr const char* kExplained =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() > 2) {
    out.push_back(
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
        "regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
        "subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return out;
  }
  if (parts.size() == 2) {
    if (parts[0].empty()) {
      out.push_back("prefix part must be non-empty");
    } else {
      const std::string problem = check_dns1123_subdomain(parts[0]);
      if (!problem.empty()) out.push_back("prefix part " + problem);
    }
  }
  const std::string_view name = parts.back();
  if (name.empty()) {
    out.push_back("name part must be non-empty");
  } else if (name.size() > 63) {
    out.push_back("name part must be no more than 63 characters");
  }
  if (!is_label_text(name)) out.push_back(kExplained);
  return out;
}

Problems label_value(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back("must be no more than 63 characters");
  if (!text.empty() && !is_label_text(text)) {
    out.push_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return out;
}

Problems uri(std::string_view text) {
  const Value value = Value::string_view_of(text);
  const Value url = call_url(Args(&value, 1));
  Problems out;
  if (url.is_error()) {
    constexpr std::string_view kPrefix = "URL parse error during conversion from string: ";
    out.emplace_back(url.text().substr(kPrefix.size()));
  }
  return out;
}

Problems uuid(std::string_view text) {
  std::string digits;
  bool legal = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-') {
      const std::size_t at = digits.size();
      legal = legal && (at == 8 || at == 12 || at == 16 || at == 20) && text[i - 1] != '-';
    } else {
      digits += text[i];
    }
  }
  legal = legal && digits.size() == 32 && std::all_of(digits.begin(), digits.end(), [](char c) {
            return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
          });
  return legal ? Problems{} : Problems{"does not match the UUID format"};
}

Problems byte(std::string_view text) {
  return base64_decode(text) ? Problems{} : Problems{"invalid base64"};
}
Problems date(std::string_view text) {
  return parse_timestamp(std::string(text) + "T00:00:00Z") && text.size() == 10
             ? Problems{}
             : Problems{"invalid date"};
}
Problems datetime(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c == 't' ? 'T' : c == 'z' ? 'Z' : c;
  });
  return parse_timestamp(upper) ? Problems{} : Problems{"invalid datetime"};
}

Problems dns1123_label(std::string_view text) {
  Problems out;
  add(out, check_dns1123_label(text));
  return out;
}
Problems dns1123_subdomain(std::string_view text) {
  Problems out;
  add(out, check_dns1123_subdomain(text));
  return out;
}
Problems dns1035_label(std::string_view text) {
  Problems out;
  add(out, check_dns1035_label(text));
  return out;
}
Problems dns1123_label_prefix(std::string_view text) {
  return dns1123_label(without_dash(text));
}
Problems dns1123_subdomain_prefix(std::string_view text) {
  return dns1123_subdomain(without_dash(text));
}
Problems dns1035_label_prefix(std::string_view text) {
  return dns1035_label(without_dash(text));
}

struct NamedFormat {
  std::string_view name;
  Problems (*check)(std::string_view);
  std::uint64_t regex_size;
};

constexpr std::array<NamedFormat, 13> kFormats{{
    {"dns1123Label", dns1123_label, 30},
    {"dns1123Subdomain", dns1123_subdomain, 60},
    {"dns1035Label", dns1035_label, 30},
    {"qualifiedName", qualified_name, 60},
    {"dns1123LabelPrefix", dns1123_label_prefix, 30},
    {"dns1123SubdomainPrefix", dns1123_subdomain_prefix, 60},
    {"dns1035LabelPrefix", dns1035_label_prefix, 30},
    {"labelValue", label_value, 40},
    {"uri", uri, 1103},
    {"uuid", uuid, 70},
    {"byte", byte, 84},
    {"date", date, 71},
    {"datetime", datetime, 71},
}};

class FormatValue final : public Opaque {
 public:
  explicit FormatValue(const NamedFormat& named) : format(named) {}
  std::string_view type_name() const override { return "kubernetes.NamedFormat"; }
  bool equals(const Opaque& other) const override {
    return format.name == static_cast<const FormatValue&>(other).format.name;
  }
  const NamedFormat& format;
};

bool is_format(const Value& value) {
  return value.kind() == Kind::Opaque && value.type_name() == "kubernetes.NamedFormat";
}

}  // namespace

Value named_format(std::size_t number) {
  return Value::opaque(std::make_shared<FormatValue>(kFormats[number]));
}

Value call_format_by_name(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i].name == args[0].text()) return Value::some(named_format(i));
  }
  return Value::none();
}

Value call_validate(Args args) {
  if (!is_format(args[0]) || args[1].kind() != Kind::String) return no_such_overload();
  Problems problems = args[0].opaque_as<FormatValue>().format.check(args[1].text());
  if (problems.empty()) return Value::none();
  std::vector<Value> out;
  for (std::string& problem : problems) out.push_back(Value::string(std::move(problem)));
  return Value::some(Value::list(std::move(out)));
}

std::uint64_t format_regex_size(const Value& format) {
  return is_format(format) ? format.opaque_as<FormatValue>().format.regex_size : 0;
}

}  // namespace krater::cel
