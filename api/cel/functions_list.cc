// Lists: order, sums, sets.
#include <algorithm>

#include "api/cel/functions.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

Value extreme(Args args, const char* name, std::int64_t wanted) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  const std::size_t size = args[0].size();
  if (size == 0) return Value::error(std::string(name) + " called on empty list");
  Value best = args[0].at(0);
  if (best.is_error()) return best;
  for (std::size_t i = 1; i < size; ++i) {
    Value item = args[0].at(i);
    const Value order = compare(item, best);
    if (order.is_error()) return order;
    if (order.as_int() == wanted) best = std::move(item);
  }
  return best;
}

bool both_lists(Args args) {
  return args[0].kind() == Kind::List && args[1].kind() == Kind::List;
}

bool holds(const Value& list, const Value& item) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal(list.at(i), item).is(true)) return true;
  }
  return false;
}

bool holds_all(const Value& list, const Value& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!holds(list, items.at(i))) return false;
  }
  return true;
}

std::vector<Value> items_of(const Value& list) {
  std::vector<Value> out;
  out.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list.at(i));
  return out;
}

bool flatten_into(const Value& list, std::int64_t depth, std::vector<Value>& out) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Value item = list.at(i);
    if (item.kind() == Kind::List && depth > 0) {
      if (!flatten_into(item, depth - 1, out)) return false;
    } else {
      out.push_back(std::move(item));
    }
    if (out.size() > kMostItems) return false;
  }
  return true;
}

}  // namespace

Value call_is_sorted(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  for (std::size_t i = 1; i < args[0].size(); ++i) {
    const Value order = compare(args[0].at(i - 1), args[0].at(i));
    if (order.is_error()) return order;
    if (order.as_int() > 0) return Value::of(false);
  }
  return Value::of(true);
}

Value call_sum(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  if (args[0].size() == 0) return Value::of(std::int64_t{0});
  Value sum = args[0].at(0);
  for (std::size_t i = 1; i < args[0].size(); ++i) {
    const Value pair[] = {sum, args[0].at(i)};
    if (pair[1].is_error()) return pair[1];
    sum = call_add(pair);
    if (sum.is_error()) return sum;
  }
  return sum;
}

Value call_min(Args args) {
  return extreme(args, "min", -1);
}
Value call_max(Args args) {
  return extreme(args, "max", 1);
}

Value call_sets_contains(Args args) {
  return both_lists(args) ? Value::of(holds_all(args[0], args[1])) : no_such_overload();
}
Value call_sets_equivalent(Args args) {
  if (!both_lists(args)) return no_such_overload();
  return Value::of(holds_all(args[0], args[1]) && holds_all(args[1], args[0]));
}
Value call_sets_intersects(Args args) {
  if (!both_lists(args)) return no_such_overload();
  for (std::size_t i = 0; i < args[1].size(); ++i) {
    if (holds(args[0], args[1].at(i))) return Value::of(true);
  }
  return Value::of(false);
}

Value call_slice(Args args) {
  if (args[0].kind() != Kind::List || args[1].kind() != Kind::Int || args[2].kind() != Kind::Int) {
    return no_such_overload();
  }
  const std::int64_t start = args[1].as_int();
  const std::int64_t end = args[2].as_int();
  const std::string shown =
      "cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), ";
  if (start < 0 || end < 0) return Value::error(shown + "negative indexes not supported");
  if (start > end) {
    return Value::error(shown + "start index must be less than or equal to end index");
  }
  if (static_cast<std::uint64_t>(end) > args[0].size()) {
    return Value::error(shown + "list is length " + std::to_string(args[0].size()));
  }
  std::vector<Value> out;
  for (std::int64_t i = start; i < end; ++i) out.push_back(args[0].at(static_cast<std::size_t>(i)));
  return Value::list(std::move(out));
}

Value call_flatten(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  if (args.size() == 2 && args[1].kind() != Kind::Int) return no_such_overload();
  const std::int64_t depth = args.size() == 2 ? args[1].as_int() : 1;
  if (depth < 0) return Value::error("level must be non-negative");
  std::vector<Value> out;
  if (!flatten_into(args[0], std::min<std::int64_t>(depth, 250), out)) return too_expensive();
  return Value::list(std::move(out));
}

Value call_sort(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  std::vector<Value> items = items_of(args[0]);
  for (const Value& item : items) {
    if (item.is_error()) return item;
    if (item.kind() != items[0].kind()) {
      return Value::error("list elements must have the same type");
    }
    // Also refuses what has no order, NaN among it, before the algorithm relies on one.
    if (compare(item, item).is_error()) return Value::error("list elements must be comparable");
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Value& a, const Value& b) { return compare(a, b).as_int() < 0; });
  return Value::list(std::move(items));
}

Value call_reverse(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  std::vector<Value> items = items_of(args[0]);
  std::reverse(items.begin(), items.end());
  return Value::list(std::move(items));
}

Value call_distinct(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  std::vector<Value> out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    Value item = args[0].at(i);
    const bool known = std::any_of(out.begin(), out.end(), [&item](const Value& other) {
      return equal(other, item).is(true);
    });
    if (!known) out.push_back(std::move(item));
  }
  return Value::list(std::move(out));
}

Value call_range(Args args) {
  if (args[0].kind() != Kind::Int) return no_such_overload();
  if (args[0].as_int() > static_cast<std::int64_t>(kMostItems)) return too_expensive();
  std::vector<Value> out;
  for (std::int64_t i = 0; i < args[0].as_int(); ++i) out.push_back(Value::of(i));
  return Value::list(std::move(out));
}

Value call_first(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  return args[0].size() == 0 ? Value::none() : Value::some(args[0].at(0));
}
Value call_last(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  return args[0].size() == 0 ? Value::none() : Value::some(args[0].at(args[0].size() - 1));
}

}  // namespace krater::cel
