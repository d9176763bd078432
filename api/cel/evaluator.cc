#include "api/cel/evaluator.h"

#include <algorithm>

#include "api/cel/call_cost.h"
#include "api/cel/collector.h"
#include "api/cel/functions.h"
#include "api/cel/regex.h"
#include "api/cel/value_data.h"
#include "api/cel/weigh.h"

namespace krater::cel {
namespace {

using Kind = Expr::Kind;
using VKind = Value::Kind;

constexpr std::uint64_t kMostWork = 64'000'000;  // parts of values looked at in one evaluation
constexpr std::uint64_t kWorkOfPattern = 100'000;
constexpr std::uint64_t kListBase = 10;
constexpr std::uint64_t kMapBase = 30;

bool is_call(const Expr& expr, std::string_view name) {
  return expr.kind == Kind::Call && expr.name == name;
}

// What reads a place in the data: a name, or fields and items of something. The same things can
// stand as a branch of a conditional without their base being counted.
bool is_place(const Expr& expr) {
  if (expr.constant) return false;
  return (expr.kind == Kind::Ident && expr.slot >= 0) ||
         (expr.kind == Kind::Select && !expr.test_only) || is_call(expr, "_[_]") ||
         is_call(expr, "_[?_]") || is_call(expr, "_?._") || is_call(expr, "_?_:_");
}

Value no_such_key(const Value& key) {
  const Value text = call_string(Args(&key, 1));
  return Value::error("no such key: " +
                      (text.is_error() ? key.type_name() : std::string(text.text())));
}

class Evaluation {
 public:
  Evaluation(const std::vector<Variable>& variables, const std::vector<std::optional<Value>>& bound,
             std::uint64_t limit)
      : variables_(variables), bound_(bound), limit_(limit) {}

  Outcome run(const Expr& root) {
    Value value = evaluate(root);
    if (cancelled_) return Outcome{too_expensive(), cost_};
    return Outcome{std::move(value), cost_};
  }

 private:
  // Once over the limit everything ends: nothing absorbs it.
  bool charge(std::uint64_t cost) {
    cost_ = cost > UINT64_MAX - cost_ ? UINT64_MAX : cost_ + cost;
    if (cost_ > limit_) cancelled_ = true;
    return !cancelled_;
  }

  Value evaluate(const Expr& expr) {
    if (cancelled_) return too_expensive();
    if (expr.constant) return *expr.constant;
    switch (expr.kind) {
      case Kind::Literal:
        return expr.literal;
      case Kind::Ident:
        if (expr.slot < 0) return expr.literal;
        charge(1);
        return variable(expr);
      case Kind::Select:
        return expr.test_only ? presence(expr) : place(expr, true);
      case Kind::Call:
        return call(expr);
      case Kind::List:
        return list(expr);
      case Kind::Map:
        return map(expr);
      case Kind::Struct:
        return Value::error("unknown type: " + expr.name);
      case Kind::Fold:
        return fold(expr);
    }
    return {};
  }

  Value variable(const Expr& expr) {
    if (expr.local) return locals_[static_cast<std::size_t>(expr.slot)];
    const auto slot = static_cast<std::size_t>(expr.slot);
    if (slot >= bound_.size() || !bound_[slot]) {
      return Value::error("no such attribute(s): " + variables_[slot].name);
    }
    return *bound_[slot];
  }

  // Fields and items. `counted`: whether reading the base costs.
  Value place(const Expr& expr, bool counted) {
    if (expr.kind == Kind::Ident && expr.slot >= 0) {
      if (counted) charge(1);
      return variable(expr);
    }
    if (is_call(expr, "_?_:_")) return conditional(expr);
    const Expr& operand = *expr.args[0];
    Value base;
    if (is_place(operand)) {
      base = place(operand, counted);
    } else {
      base = evaluate(operand);
      if (counted) charge(1);
    }
    if (base.is_error() || cancelled_) return base;
    if (expr.kind == Kind::Select) return step(base, Value::string_view_of(expr.name), false);
    const Expr& index = *expr.args[1];
    const bool optional = expr.name != "_[_]";
    if (base.kind() == VKind::Optional && base.contained() == nullptr) return base;
    const Value key = is_place(index) ? place(index, false) : evaluate(index);
    if (key.is_error()) return key;
    return step(base, key, optional);
  }

  // One step into a value. Behind an optional step everything is optional.
  Value step(const Value& base, const Value& key, bool optional) {
    if (base.kind() == VKind::Optional) {
      if (base.contained() == nullptr) return base;
      Value next = step(*base.contained(), key, optional);
      if (next.is_error() || optional) return next;
      return Value::some(std::move(next));
    }
    Value out = item(base, key);
    const bool missing = out.is_error() && missing_;
    missing_ = false;
    if (optional && missing) return Value::none();
    charge(1);
    if (!optional || out.is_error()) return out;
    return Value::some(std::move(out));
  }

  // Sets missing_ when there is nothing at a key that could be there.
  Value item(const Value& base, const Value& key) {
    if (base.kind() == VKind::Map) {
      std::optional<Value> found =
          key.kind() == VKind::String ? base.field(key.text()) : base.find(key);
      if (found) return std::move(*found);
      missing_ = true;
      return no_such_key(key);
    }
    if (base.kind() != VKind::List) {
      missing_ = true;
      return no_such_key(key);
    }
    std::int64_t at = -1;
    if (key.kind() == VKind::Int) {
      at = key.as_int();
    } else if (key.kind() == VKind::Uint || key.kind() == VKind::Double) {
      const Value whole = call_int(Args(&key, 1));
      if (whole.is_error() || !equal(whole, key).is(true)) {
        return Value::error("unsupported index value in list");
      }
      at = whole.as_int();
    } else {
      return Value::error("unsupported index type '" + key.type_name() + "' in list");
    }
    if (at < 0 || static_cast<std::uint64_t>(at) >= base.size()) {
      missing_ = true;
      return Value::error("index out of bounds: " + std::to_string(at));
    }
    return base.at(static_cast<std::size_t>(at));
  }

  // has(a.b): what leads to `b` must be there.
  Value presence(const Expr& expr) {
    const Expr& operand = *expr.args[0];
    Value base = is_place(operand) ? place(operand, false) : evaluate(operand);
    if (base.is_error()) return base;
    charge(1);
    if (base.kind() == VKind::Optional) {
      if (base.contained() == nullptr) return Value::of(false);
      base = *base.contained();
    }
    if (base.kind() != VKind::Map) return Value::of(false);
    const std::optional<Value> found = base.field(expr.name);
    return Value::of(found.has_value());
  }

  Value call(const Expr& expr) {
    if (is_place(expr)) return place(expr, true);
    if (expr.name == "_&&_") return logical(expr, false);
    if (expr.name == "_||_") return logical(expr, true);
    if (expr.name == "@not_strictly_false") {
      const Value value = evaluate(*expr.args[0]);
      charge(1);
      return Value::of(!value.is(false));
    }
    if (expr.member && (expr.name == "or" || expr.name == "orValue")) return alternative(expr);
    if (expr.name == "@in" && expr.args[1]->constant && certain_list(expr)) return in_set(expr);
    std::vector<Value> args;
    args.reserve(expr.args.size());
    for (const ExprPtr& arg : expr.args) {
      args.push_back(evaluate(*arg));
      // Of more than two, those behind a failure are not looked at, and the call is not made.
      const bool last = args.size() == expr.args.size();
      if (args.back().is_error() && expr.args.size() > 2 && !last) return args.back();
    }
    if (cancelled_ || !work(expr, args)) return too_expensive();
    // Paid before it is made, unless the price is what comes out.
    if (!priced_by_result(expr.overloads[0]->cost)) {
      if (!charge(call_cost(expr, args, Value()))) return too_expensive();
      return strict(expr, args);
    }
    Value out = strict(expr, args);
    charge(call_cost(expr, args, out));
    return out;
  }

  Value strict(const Expr& expr, const std::vector<Value>& args) {
    for (const Value& arg : args) {
      if (arg.is_error()) return arg;
    }
    const Cost cost = expr.overloads[0]->cost;
    if ((cost == Cost::Matches || cost == Cost::Find) && args[1].kind() == VKind::String) {
      return apply_pattern(expr.name, pattern_of(expr, args[1].text()), args);
    }
    Value out = find_function(expr.name)->call(args);
    if (!out.is_error() || out.text() != "no such overload") return out;
    return Value::error("no such overload" + detail(expr, args));
  }

  // Functions of the libraries say what they were given; operators and the oldest functions do not.
  static std::string detail(const Expr& expr, const std::vector<Value>& args) {
    const char first = expr.name[0];
    const Cost cost = expr.overloads[0]->cost;
    if (first == '_' || first == '!' || first == '-' || first == '@' || cost == Cost::Matches ||
        cost == Cost::Find || cost == Cost::Contains || cost == Cost::StartsWith ||
        cost == Cost::ContainsIpText) {
      return "";
    }
    if (expr.name == "size") return ": size";
    std::string out = ": " + expr.name + "(";
    for (std::size_t i = 0; i < args.size(); ++i) out += (i > 0 ? ", " : "") + args[i].type_name();
    return out + ")";
  }

  // The last pattern that was not a literal is kept: loops tend to use the same one.
  const re2::RE2& pattern_of(const Expr& expr, std::string_view text) {
    if (expr.pattern) return *expr.pattern;
    if (!pattern_ || pattern_->pattern() != text) {
      work_ += kWorkOfPattern;
      pattern_ = compile_regex(text);
    }
    return *pattern_;
  }

  // Costs do not see everything that takes time (comparing deep objects, copying lists); this does.
  bool work(const Expr& expr, const std::vector<Value>& args) {
    const Cost cost = expr.overloads[0]->cost;
    for (const Value& arg : args) {
      if (cost == Cost::AddList || cost == Cost::ListCopy || cost == Cost::ListSlice) {
        if (arg.kind() == VKind::List) work_ += arg.size();
      } else if (expr.name != "size" && expr.name != "first" && expr.name != "last") {
        work_ += weigh(arg, kMostWork);
      }
    }
    if (work_ > kMostWork) cancelled_ = true;
    return !cancelled_;
  }

  // && and ||: a deciding operand wins over errors of the others.
  Value logical(const Expr& expr, bool decides) {
    Value failure;
    for (const ExprPtr& arg : expr.args) {
      Value value = evaluate(*arg);
      if (cancelled_) return too_expensive();
      if (value.is(decides)) return value;
      if (failure.is_error() || value.is(!decides)) continue;
      failure = value.is_error() ? std::move(value) : no_such_overload();
    }
    return failure.is_error() ? failure : Value::of(!decides);
  }

  Value conditional(const Expr& expr) {
    const Value condition = evaluate(*expr.args[0]);
    if (condition.is_error()) return condition;
    if (condition.kind() != VKind::Bool) return no_such_overload();
    const Expr& branch = *expr.args[condition.as_bool() ? 1 : 2];
    return is_place(branch) ? place(branch, false) : evaluate(branch);
  }

  // a.or(b), a.orValue(b): b is evaluated only where a is none.
  Value alternative(const Expr& expr) {
    Value first = evaluate(*expr.args[0]);
    if (first.is_error()) return first;
    if (first.kind() != VKind::Optional) return no_such_overload();
    if (first.contained() == nullptr) return evaluate(*expr.args[1]);
    return expr.name == "or" ? first : *first.contained();
  }

  static bool certain_list(const Expr& in) {
    return in.overloads.size() == 1 && in.overloads[0]->cost == Cost::InList;
  }

  // Membership in a list of constants costs nothing itself.
  Value in_set(const Expr& expr) {
    const Value& list = *expr.args[1]->constant;
    if (list.size() == 0) return Value::of(false);
    const Value args[] = {evaluate(*expr.args[0]), list};
    if (args[0].is_error()) return args[0];
    Value out = call_in(args);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const VKind kind = list.at(i).kind();
      const bool primitive = kind == VKind::Bool || kind == VKind::Int || kind == VKind::Uint ||
                             kind == VKind::Double || kind == VKind::String;
      if (primitive) continue;
      charge(call_cost(expr, args, out));
      break;
    }
    return out;
  }

  Value list(const Expr& expr) {
    Value out = list_of(expr);
    charge(kListBase);
    return out;
  }

  Value list_of(const Expr& expr) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Value item = evaluate(*expr.args[i]);
      if (item.is_error()) return item;
      if (expr.optional[i]) {
        if (item.kind() != VKind::Optional) {
          return Value::error(
              "cannot initialize optional list element from non-optional value of "
              "type " +
              item.type_name());
        }
        if (item.contained() == nullptr) continue;
        item = Value(*item.contained());
      }
      items.push_back(std::move(item));
    }
    return Value::list(std::move(items));
  }

  Value map(const Expr& expr) {
    Value out = map_of(expr);
    charge(kMapBase);
    return out;
  }

  Value map_of(const Expr& expr) {
    std::vector<std::pair<Value, Value>> entries;
    for (std::size_t i = 0; i < expr.args.size(); i += 2) {
      Value key = evaluate(*expr.args[i]);
      if (key.is_error()) return key;
      Value value = evaluate(*expr.args[i + 1]);
      if (value.is_error()) return value;
      if (expr.optional[i / 2]) {
        if (value.kind() != VKind::Optional) {
          return Value::error("cannot initialize optional entry from non-optional value of type " +
                              value.type_name());
        }
        if (value.contained() == nullptr) continue;
        value = Value(*value.contained());
      }
      entries.emplace_back(std::move(key), std::move(value));
    }
    return Value::map(std::move(entries));
  }

  Value fold(const Expr& expr) {
    const Fold& fold = *expr.fold;
    const Value range = evaluate(*fold.range);
    if (range.is_error()) return range;
    const bool is_list = range.kind() == VKind::List;
    if (!is_list && (range.kind() != VKind::Map || range.is_object())) {
      std::string type = range.kind() == VKind::Null ? "null" : range.type_name();
      if (type[0] >= 'a' && type[0] <= 'z') type[0] = static_cast<char>(type[0] - 'a' + 'A');
      return Value::error("got 'types." + type + "', expected iterable type");
    }
    Value init = evaluate(*fold.init);
    const std::size_t scope = locals_.size();
    locals_.push_back(std::move(init));
    locals_.emplace_back();
    locals_.emplace_back();
    if (!is_list && (work_ += range.size()) > kMostWork) cancelled_ = true;
    const std::vector<Value> keys = is_list ? std::vector<Value>() : range.keys();
    const std::size_t count = is_list ? range.size() : keys.size();
    Collector collector(fold);
    for (std::size_t i = 0; i < count && !cancelled_; ++i) {
      set_variables(fold, scope, range, is_list ? Value() : keys[i], i);
      if (collector.collects()) {
        collect(collector, scope);
        continue;
      }
      if (evaluate(*fold.condition).is(false)) break;
      Value next = evaluate(*fold.step);
      locals_[scope] = std::move(next);
    }
    if (collector.collects() && !locals_[scope].is_error()) locals_[scope] = collector.take();
    locals_.resize(scope + 1);
    Value out = evaluate(*fold.result);
    locals_.resize(scope);
    return out;
  }

  void set_variables(const Fold& fold, std::size_t scope, const Value& range, const Value& key,
                     std::size_t i) {
    const bool is_list = range.kind() == VKind::List;
    const bool two = !fold.var2.empty();
    if (is_list) {
      if (two) locals_[scope + 1] = Value::of(static_cast<std::int64_t>(i));
      locals_[scope + (two ? 2 : 1)] = range.at(i);
      return;
    }
    locals_[scope + 1] = key;
    if (!two) return;
    std::optional<Value> value = range.find(key);
    locals_[scope + 2] = value ? std::move(*value) : Value();
  }

  // One step of a collecting fold, at the price of the step as written. After a failure the steps
  // go on, as those of other folds do, and add nothing.
  void collect(Collector& collector, std::size_t scope) {
    if (collector.filter() != nullptr) {
      Value keep = evaluate(*collector.filter());
      if (keep.is(false)) return;
      if (!keep.is(true)) {
        locals_[scope] = keep.is_error() ? std::move(keep) : no_such_overload();
        return;
      }
    }
    charge(1);  // reading the accumulator
    if (collector.is_map()) {
      collect_entries(collector, scope);
    } else {
      collect_item(collector, scope);
    }
  }

  void fail(std::size_t scope, Value failure) {
    if (!locals_[scope].is_error()) locals_[scope] = std::move(failure);
  }

  void collect_item(Collector& collector, std::size_t scope) {
    const Expr& addition = *collector.step().args[1];
    Value item = evaluate(*addition.args[0]);
    charge(addition.constant ? 1 : kListBase + 1);
    if (item.is_error()) {
      fail(scope, std::move(item));
    } else if (!locals_[scope].is_error()) {
      collector.add(std::move(item));
    }
  }

  void collect_entries(Collector& collector, std::size_t scope) {
    const std::vector<ExprPtr>& args = collector.step().args;
    const bool pair = args.size() == 3;
    if (pair && locals_[scope].is_error()) return;
    Value first = evaluate(*args[1]);
    if (pair) {
      if (first.is_error()) return fail(scope, std::move(first));
      Value value = evaluate(*args[2]);
      charge(1);
      if (value.is_error()) return fail(scope, std::move(value));
      return insert(collector, std::move(first), std::move(value), scope);
    }
    charge(1);
    if (first.is_error()) return fail(scope, std::move(first));
    if (first.kind() != VKind::Map) return fail(scope, no_such_overload());
    if (locals_[scope].is_error()) return;
    for (Value& key : first.keys()) {
      std::optional<Value> value = first.find(key);
      if (value) insert(collector, std::move(key), std::move(*value), scope);
      if (locals_[scope].is_error()) return;
    }
  }

  void insert(Collector& collector, Value key, Value value, std::size_t scope) {
    if (locals_[scope].is_error()) return;
    std::optional<Value> failure = collector.insert(std::move(key), std::move(value));
    if (failure) fail(scope, std::move(*failure));
  }

  const std::vector<Variable>& variables_;
  const std::vector<std::optional<Value>>& bound_;
  const std::uint64_t limit_;
  std::uint64_t cost_ = 0;
  std::uint64_t work_ = 0;
  std::shared_ptr<const re2::RE2> pattern_;
  bool cancelled_ = false;
  bool missing_ = false;
  std::vector<Value> locals_;
};

}  // namespace

Outcome evaluate(const Expr& root, const std::vector<Variable>& variables,
                 const std::vector<std::optional<Value>>& bound, std::uint64_t cost_limit) {
  return Evaluation(variables, bound, cost_limit).run(root);
}

}  // namespace krater::cel
