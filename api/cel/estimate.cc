#include "api/cel/estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "api/cel/overload.h"

namespace krater::cel {
namespace {

using Kind = Expr::Kind;

constexpr double kPerCharacter = 0.1;
constexpr double kPerPatternCharacter = 0.25;
constexpr std::uint64_t kListBase = 10;
constexpr std::uint64_t kMapBase = 30;
constexpr std::uint64_t kStructBase = 40;
constexpr double kLongestFormatRegex = 128;

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}
std::uint64_t times(std::uint64_t a, double factor) {
  const double out = std::ceil(static_cast<double>(a) * factor);
  return out >= 18446744073709551616.0 ? UINT64_MAX : static_cast<std::uint64_t>(out);
}

// Of a size or of a cost: least and most. Nothing here overflows; UINT64_MAX is "unbounded".
struct Range {
  std::uint64_t min = 0, max = 0;

  static Range fixed(std::uint64_t value) { return {value, value}; }
  static Range unknown() { return {0, UINT64_MAX}; }
  friend Range operator+(Range a, Range b) { return {plus(a.min, b.min), plus(a.max, b.max)}; }
  friend Range operator*(Range a, Range b) { return {times(a.min, b.min), times(a.max, b.max)}; }
  friend Range operator*(Range a, double factor) {
    return {times(a.min, factor), times(a.max, factor)};
  }
  Range united(Range other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
};
using Size = std::optional<Range>;

// Of the items of a list or the keys and values of a map.
struct EntrySize {
  bool list = false;
  Range key, value;
};
using Entries = std::optional<EntrySize>;

Entries united(const Entries& a, const Entries& b) {
  if (!a || !b) return std::nullopt;
  return EntrySize{a->list, a->key.united(b->key), a->value.united(b->value)};
}

// What is known of one node: where in the variables' types it reads, and sizes.
struct Known {
  const Type* place = nullptr;
  Size size;
  Entries entries;
};

struct Estimate {
  Range cost;
  Size result;
};

bool is_fixed_size(const Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Double:
    case TypeKind::Duration:
    case TypeKind::Int:
    case TypeKind::Timestamp:
    case TypeKind::Uint:
      return true;
    case TypeKind::Opaque:
      return is_optional(type) && is_fixed_size(*type.params[0]);
    case TypeKind::Dyn:
    case TypeKind::Error:
    case TypeKind::Null:
    case TypeKind::String:
    case TypeKind::Bytes:
    case TypeKind::Type:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Object:
    case TypeKind::Var:
      return false;
  }
  return false;
}

Size size_of_place(const Type* place) {
  if (place == nullptr || place->max_elements < 0) return std::nullopt;
  return Range{0, static_cast<std::uint64_t>(place->max_elements)};
}

// Items of a list, values of a map.
const Type* value_place(const Type* place) {
  if (place == nullptr || place->params.empty()) return nullptr;
  if (place->kind != TypeKind::List && place->kind != TypeKind::Map) return nullptr;
  return place->params.back().get();
}
const Type* key_place(const Type* place) {
  return place != nullptr && place->kind == TypeKind::Map ? place->params[0].get() : nullptr;
}
const Type* field_place(const Type* place, const std::string& name) {
  if (place == nullptr) return nullptr;
  const auto found = place->fields.find(name);
  return found == place->fields.end() ? nullptr : found->second.type.get();
}

class Estimator {
 public:
  explicit Estimator(const std::vector<Variable>& variables) : variables_(variables) {}

  Range cost(const Expr& expr) {
    switch (expr.kind) {
      case Kind::Literal:
        return {};
      case Kind::Ident:
        return ident(expr);
      case Kind::Select:
        return select(expr);
      case Kind::Call:
        return call(expr);
      case Kind::List:
        return list(expr);
      case Kind::Map:
        return map(expr);
      case Kind::Struct:
        return Range::fixed(kStructBase);
      case Kind::Fold:
        return is_binding(expr) ? binding(expr) : fold(expr);
    }
    return {};
  }

 private:
  Known& known(const Expr& expr) { return known_[&expr]; }
  Known* local_of(const Expr& expr) {
    if (expr.kind != Kind::Ident || !expr.local) return nullptr;
    return &locals_[static_cast<std::size_t>(expr.slot)];
  }
  const Type* place_of(const Expr& expr) {
    const Known* local = local_of(expr);
    return local != nullptr ? local->place : known(expr).place;
  }

  Size size_of(const Expr& expr) {
    Known& node = known(expr);
    if (node.size) return node.size;
    if (expr.kind == Kind::Literal) {
      const Value::Kind kind = expr.literal.kind();
      if (kind != Value::Kind::Type) return Range::fixed(expr.literal.cost_size());
    }
    if (expr.kind == Kind::List) return Range::fixed(expr.args.size());
    if (expr.kind == Kind::Map) return Range::fixed(expr.args.size() / 2);
    if (const Size size = size_of_place(place_of(expr)); size) {
      node.size = size;
      return size;
    }
    if (is_fixed_size(*expr.type)) return Range::fixed(1);
    const Known* local = local_of(expr);
    return local == nullptr ? std::nullopt : local->size;
  }
  Range size_or_unknown(const Expr& expr) { return size_of(expr).value_or(Range::unknown()); }

  Entries entries_of(const Expr& expr) {
    const Known& node = known(expr);
    if (node.entries) return node.entries;
    const Known* local = local_of(expr);
    return local == nullptr ? std::nullopt : local->entries;
  }

  Range ident(const Expr& expr) {
    const Known* local = local_of(expr);
    if (local != nullptr) {
      known(expr).place = local->place;
    } else if (expr.slot >= 0) {
      const Type* type = variables_[static_cast<std::size_t>(expr.slot)].type.get();
      known(expr).place = is_optional(*type) ? nullptr : type;
    }
    return Range::fixed(1);
  }

  Range select(const Expr& expr) {
    const Expr& operand = *expr.args[0];
    Range out = cost(operand);
    if (expr.test_only) return out;
    const TypeKind kind = operand.type->kind;
    if (kind == TypeKind::Map || kind == TypeKind::Object) out = out + Range::fixed(1);
    known(expr).place = field_place(place_of(operand), expr.name);
    return out;
  }

  Range list(const Expr& expr) {
    Range out;
    Range item{expr.args.empty() ? 0 : UINT64_MAX, 0};
    for (const ExprPtr& arg : expr.args) {
      out = out + cost(*arg);
      item = item.united(size_or_unknown(*arg));
    }
    known(expr).entries = EntrySize{true, Range::fixed(1), item};
    return out + Range::fixed(kListBase);
  }

  Range map(const Expr& expr) {
    Range out;
    Range key{expr.args.empty() ? 0 : UINT64_MAX, 0};
    Range value = key;
    for (std::size_t i = 0; i < expr.args.size(); i += 2) {
      out = out + cost(*expr.args[i]) + cost(*expr.args[i + 1]);
      key = key.united(size_or_unknown(*expr.args[i]));
      value = value.united(size_or_unknown(*expr.args[i + 1]));
    }
    known(expr).entries = EntrySize{false, key, value};
    return out + Range::fixed(kMapBase);
  }

  // optMap's way to name a value: a fold over nothing.
  static bool is_binding(const Expr& expr) { return expr.fold->accu != kAccumulator; }

  Known local_for(const Expr& expr) { return {place_of(expr), size_of(expr), entries_of(expr)}; }

  Range binding(const Expr& expr) {
    const Fold& fold = *expr.fold;
    Range out = cost(*fold.range) + cost(*fold.init);
    const std::size_t scope = locals_.size();
    locals_.push_back(local_for(*fold.init));
    out = out + cost(*fold.result);
    Size size = size_of(*fold.result);
    Entries entries = entries_of(*fold.result);
    locals_.resize(scope);
    if (size) known(expr).size = size;
    if (entries) known(expr).entries = entries;
    return out;
  }

  Range fold(const Expr& expr) {
    const Fold& fold = *expr.fold;
    const Range range_cost = cost(*fold.range);
    Range out = range_cost + cost(*fold.init);
    const Entries entries = entries_of(*fold.range);
    const Type* place = place_of(*fold.range);
    const bool is_list = entries ? entries->list : fold.range->type->kind == TypeKind::List;
    Known key{key_place(place), entries ? Size(entries->key) : std::nullopt, std::nullopt};
    Known value{value_place(place), entries ? Size(entries->value) : std::nullopt, std::nullopt};
    const std::size_t scope = locals_.size();
    locals_.push_back(local_for(*fold.init));
    if (fold.var2.empty()) {
      locals_.push_back(is_list ? value : key);
      locals_.emplace_back();
    } else {
      if (is_list) key.place = nullptr;
      locals_.push_back(key);
      locals_.push_back(value);
    }
    const Range loop = cost(*fold.condition) + cost(*fold.step);
    const Entries step_entries = entries_of(*fold.step);
    locals_.resize(scope + 1);
    out = out + cost(*fold.result);
    locals_.resize(scope);
    const Range count = size_or_unknown(*fold.range);
    if (fold.init->kind == Kind::Literal) {
      known(expr).size = size_of(*fold.init);
    } else {
      known(expr).size = count;
      if (step_entries) known(expr).entries = step_entries;
    }
    return out + count * loop;
  }

  Range call(const Expr& expr) {
    if (expr.name == "dyn") {
      const Range out = Range::fixed(1) + cost(*expr.args[0]);
      known(expr).size = size_of(*expr.args[0]);
      known(expr).entries = entries_of(*expr.args[0]);
      return out;
    }
    Range args;
    std::vector<Range> costs;
    for (const ExprPtr& arg : expr.args) {
      costs.push_back(cost(*arg));
      args = args + costs.back();
    }
    if (expr.name == "_&&_" || expr.name == "_||_") return {costs[0].min, args.max};
    if (expr.name == "_?_:_") return conditional(expr, costs);
    Range function{UINT64_MAX, 0};
    Size result;
    for (const Overload* overload : expr.overloads) {
      const Estimate one = estimate(expr, overload->cost);
      function = function.united(one.cost);
      if (one.result) result = result ? result->united(*one.result) : *one.result;
      if (overload->cost == Cost::IndexList || overload->cost == Cost::IndexMap) {
        const Entries entries = entries_of(*expr.args[0]);
        result = entries ? Size(entries->value) : std::nullopt;
        known(expr).place = value_place(place_of(*expr.args[0]));
      }
      if (!result) result = size_of(expr);
    }
    if (result) known(expr).size = result;
    return args + function;
  }

  Range conditional(const Expr& expr, const std::vector<Range>& costs) {
    known(expr).size = size_or_unknown(*expr.args[1]).united(size_or_unknown(*expr.args[2]));
    known(expr).entries = united(entries_of(*expr.args[1]), entries_of(*expr.args[2]));
    return costs[0] + costs[1].united(costs[2]);
  }

  Range pass(const Expr& expr, double factor = 1) {
    return size_or_unknown(expr) * (factor * kPerCharacter);
  }

  // Size of the items of a list whose type says that it has some.
  Range item_size(const Expr& list) {
    return size_of_place(value_place(place_of(list))).value_or(Range::unknown());
  }

  std::uint64_t literal_or(const Expr& expr, std::uint64_t otherwise) const {
    if (expr.kind != Kind::Literal || expr.literal.kind() != Value::Kind::Int) return otherwise;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(expr.literal.as_int(), 0));
  }

  Estimate new_list(Range size, double factor) {
    return {size * factor + Range::fixed(1 + kListBase), size};
  }

  // Of the call itself, its arguments' costs apart.
  Estimate estimate(const Expr& expr, Cost cost) {
    const auto arg = [&expr](std::size_t i) -> const Expr& { return *expr.args[i]; };
    const std::size_t first = expr.member ? 1 : 0;
    const auto pattern = [&] {
      return (size_or_unknown(arg(0)) + Range::fixed(1)) * kPerCharacter *
             (size_or_unknown(arg(1)) * kPerPatternCharacter);
    };
    switch (cost) {
      case Cost::One:
      case Cost::IndexList:
      case Cost::IndexMap:
      case Cost::Nominal:
        return {Range::fixed(1), {}};
      case Cost::Logical:
      case Cost::Conditional:
        return {};
      case Cost::Equality:
        return {equality(arg(0), arg(1)), {}};
      case Cost::Order:
        return {order(arg(0), arg(1)), {}};
      case Cost::AddText: {
        const Range size = size_or_unknown(arg(0)) + size_or_unknown(arg(1));
        return {size * kPerCharacter, size};
      }
      case Cost::AddList: {
        const Entries both = united(entries_of(arg(0)), entries_of(arg(1)));
        if (both) known(expr).entries = both;
        return {Range::fixed(1), size_or_unknown(arg(0)) + size_or_unknown(arg(1))};
      }
      case Cost::InList:
        return {size_or_unknown(arg(1)) * 1.0, {}};
      case Cost::StartsWith:
        return {pass(arg(1)), {}};
      case Cost::Matches:
        if (!expr.member) return {Range::fixed(1), {}};
        return {pattern(), {}};
      case Cost::Find:
        return {pattern(), Range{0, size_or_unknown(arg(0)).max}};
      case Cost::Contains:
        return {pass(arg(0)) * pass(arg(1)), {}};
      case Cost::TextToBytes: {
        const Range size = size_or_unknown(arg(0));
        return {pass(arg(0)), Range{size.min, times(size.max, std::uint64_t{4})}};
      }
      case Cost::BytesToText: {
        const Range size = size_or_unknown(arg(0));
        return {pass(arg(0)), Range{size.min / 4, size.max}};
      }
      case Cost::Format:
        return {pass(arg(0)), {}};
      case Cost::EachItem:
        return {each_item(arg(0)), {}};
      case Cost::Parse:
        return {pass(arg(first)), {}};
      case Cost::ParseTwice:
        return {pass(arg(0), 2), {}};
      case Cost::SameText:
      case Cost::Url:
        return {pass(arg(0)), size_or_unknown(arg(0))};
      case Cost::Replace:
        return {pass(arg(0), 2), replaced(expr)};
      case Cost::Split: {
        std::uint64_t most = size_or_unknown(arg(0)).max;
        if (expr.args.size() == 3) most = literal_or(arg(2), most);
        return {pass(arg(0), 2), Range{0, most}};
      }
      case Cost::Join: {
        const Range size = joined(expr);
        return {size * kPerCharacter, size};
      }
      case Cost::ContainsIp:
        return {contains_ip(), {}};
      case Cost::ContainsIpText:
        return {contains_ip() + pass(arg(1)), {}};
      case Cost::ContainsCidr:
        return {contains_cidr(), {}};
      case Cost::ContainsCidrText:
        return {contains_cidr() + pass(arg(1)), {}};
      case Cost::Validate:
        return {pass(arg(1)) * (kLongestFormatRegex * kPerPatternCharacter), {}};
      case Cost::Sets:
      case Cost::SetsBoth: {
        const Range pairs = size_or_unknown(arg(0)) * size_or_unknown(arg(1));
        return {pairs * (cost == Cost::Sets ? 1.0 : 2.0) + Range::fixed(1), {}};
      }
      case Cost::ListSlice: {
        const std::uint64_t end = literal_or(arg(2), size_or_unknown(arg(0)).max);
        const std::uint64_t start = literal_or(arg(1), 0);
        return new_list(Range::fixed(end - start), 1);  // wraps, as the original does
      }
      case Cost::ListCopy:
        return new_list(size_or_unknown(arg(0)), 1);
      case Cost::ListSort: {
        const Range size = size_or_unknown(arg(0));
        const bool texts = expr.name == "sort" && !arg(0).type->params.empty() &&
                           (arg(0).type->params[0]->kind == TypeKind::String ||
                            arg(0).type->params[0]->kind == TypeKind::Bytes);
        return new_list(size * size, texts ? 2 + kPerCharacter : 2);
      }
      case Cost::ListRange:
        return new_list(Range::fixed(literal_or(arg(0), UINT64_MAX)), 1);
    }
    return {Range::fixed(1), {}};
  }

  Range order(const Expr& a, const Expr& b) {
    const std::uint64_t most = std::min(size_or_unknown(a).max, size_or_unknown(b).max);
    return Range{most > 0 ? std::uint64_t{1} : 0, most} * kPerCharacter;
  }

  Range equality(const Expr& a, const Expr& b) {
    if (a.type->kind == TypeKind::Opaque && !is_optional(*a.type) && same_type(*a.type, *b.type)) {
      if (a.type->name == "kubernetes.NamedFormat") return Range{1, 64} * kPerCharacter;
      if (a.type->name == "kubernetes.URL") {
        return Range{1, size_of(b).value_or(Range::fixed(1)).max} * kPerCharacter;
      }
      return Range::fixed(1);
    }
    return order(a, b);
  }

  Range each_item(const Expr& target) {
    if (target.type->params.empty()) return pass(target);  // a string, or dynamic
    Range item = Range::fixed(1);
    const TypeKind kind = target.type->params[0]->kind;
    if (kind == TypeKind::String || kind == TypeKind::Bytes) {
      item = item + item_size(target) * kPerCharacter;
    }
    return size_or_unknown(target) * item;
  }

  Range replaced(const Expr& expr) {
    const Range size = size_or_unknown(*expr.args[0]);
    const Range from = size_or_unknown(*expr.args[1]);
    const Range to = size_or_unknown(*expr.args[2]);
    Range count;
    Range kept;
    // Longest: the shortest parts become the longest replacements.
    if (from.min == 0) {
      count.max = plus(size.max, 1);
      kept.max = size.max;
    } else if (to.max <= from.min) {
      kept.max = size.max;
    } else {
      count.max = times(size.max, 1.0 / static_cast<double>(from.min));
    }
    // Shortest: the other way round.
    if (from.max == 0) {
      count.min = plus(size.min, 1);
      kept.min = size.min;
    } else if (from.max <= to.min) {
      kept.min = size.min;
    } else {
      count.min = times(size.min, 1.0 / static_cast<double>(from.max));
    }
    return count * to + kept;
  }

  Range joined(const Expr& expr) {
    const Range count = size_or_unknown(*expr.args[0]);
    Range out;
    if (!expr.args[0]->type->params.empty()) out = count * item_size(*expr.args[0]);
    if (expr.args.size() < 2) return out;
    const Range separators{count.min > 0 ? count.min - 1 : 0, count.max > 0 ? count.max - 1 : 0};
    return out + size_or_unknown(*expr.args[1]) * separators;
  }

  // Both addresses have four or sixteen bytes.
  static Range contains_ip() { return Range{8, 32} * kPerCharacter; }
  static Range contains_cidr() {
    return contains_ip() + Range{4, 16} * kPerCharacter + Range::fixed(1);
  }

  const std::vector<Variable>& variables_;
  std::unordered_map<const Expr*, Known> known_;
  std::vector<Known> locals_;
};

}  // namespace

std::uint64_t estimate_cost(const Expr& root, const std::vector<Variable>& variables) {
  return Estimator(variables).cost(root).max;
}

}  // namespace krater::cel
