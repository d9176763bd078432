// Operators. Whole numbers are checked: leaving the range is an error, never a wrap.
#include <cmath>

#include "api/cel/functions.h"
#include "api/cel/times.h"
#include "api/cel/value_data.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

Value int_overflow() {
  return Value::error("integer overflow");
}
Value uint_overflow() {
  return Value::error("unsigned integer overflow");
}

bool both(Args args, Kind kind) {
  return args[0].kind() == kind && args[1].kind() == kind;
}

bool wraps_on_divide(std::int64_t a, std::int64_t b) {
  return a == INT64_MIN && b == -1;
}

Value timestamp_plus(const Value& time, std::int64_t nanos) {
  const std::optional<Timestamp> sum = add(time.as_timestamp(), nanos);
  return sum ? Value::of(*sum) : Value::error("timestamp overflow");
}

// The sign of compare() under a test.
template <typename Test>
Value ordered(Args args, Test test) {
  const Value order = compare(args[0], args[1]);
  if (order.is_error()) return order;
  return Value::of(static_cast<bool>(test(order.as_int())));
}

}  // namespace

Value no_such_overload() {
  return Value::error("no such overload");
}
Value too_expensive() {
  return Value::error(std::string(kCostExceeded));
}

Value call_add(Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (both(args, Kind::Int)) {
    std::int64_t out = 0;
    if (__builtin_add_overflow(a.as_int(), b.as_int(), &out)) return int_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Uint)) {
    std::uint64_t out = 0;
    if (__builtin_add_overflow(a.as_uint(), b.as_uint(), &out)) return uint_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Double)) return Value::of(a.as_double() + b.as_double());
  if (both(args, Kind::String) || both(args, Kind::Bytes)) {
    if (a.text().size() + b.text().size() > kMostBytes) return too_expensive();
    std::string out(a.text());
    out += b.text();
    return a.kind() == Kind::String ? Value::string(std::move(out)) : Value::bytes(std::move(out));
  }
  if (both(args, Kind::List)) {
    if (a.size() + b.size() > kMostItems) return too_expensive();
    return concatenate(a, b);
  }
  if (both(args, Kind::Duration)) {
    std::int64_t out = 0;
    if (__builtin_add_overflow(a.as_nanos(), b.as_nanos(), &out)) return int_overflow();
    return Value::of(Nanoseconds{out});
  }
  if (a.kind() == Kind::Timestamp && b.kind() == Kind::Duration) {
    return timestamp_plus(a, b.as_nanos());
  }
  if (a.kind() == Kind::Duration && b.kind() == Kind::Timestamp) {
    return timestamp_plus(b, a.as_nanos());
  }
  return no_such_overload();
}

Value call_subtract(Args args) {
  const Value& a = args[0];
  const Value& b = args[1];
  if (both(args, Kind::Int)) {
    std::int64_t out = 0;
    if (__builtin_sub_overflow(a.as_int(), b.as_int(), &out)) return int_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Uint)) {
    std::uint64_t out = 0;
    if (__builtin_sub_overflow(a.as_uint(), b.as_uint(), &out)) return uint_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Double)) return Value::of(a.as_double() - b.as_double());
  if (both(args, Kind::Duration)) {
    std::int64_t out = 0;
    if (__builtin_sub_overflow(a.as_nanos(), b.as_nanos(), &out)) return int_overflow();
    return Value::of(Nanoseconds{out});
  }
  if (both(args, Kind::Timestamp)) {
    const std::optional<std::int64_t> out = difference(a.as_timestamp(), b.as_timestamp());
    return out ? Value::of(Nanoseconds{*out}) : int_overflow();
  }
  if (a.kind() == Kind::Timestamp && b.kind() == Kind::Duration) {
    if (b.as_nanos() == INT64_MIN) return Value::error("timestamp overflow");
    return timestamp_plus(a, -b.as_nanos());
  }
  return no_such_overload();
}

Value call_multiply(Args args) {
  if (both(args, Kind::Int)) {
    std::int64_t out = 0;
    if (__builtin_mul_overflow(args[0].as_int(), args[1].as_int(), &out)) return int_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Uint)) {
    std::uint64_t out = 0;
    if (__builtin_mul_overflow(args[0].as_uint(), args[1].as_uint(), &out)) return uint_overflow();
    return Value::of(out);
  }
  if (both(args, Kind::Double)) return Value::of(args[0].as_double() * args[1].as_double());
  return no_such_overload();
}

Value call_divide(Args args) {
  constexpr const char* kByZero = "division by zero";
  if (both(args, Kind::Int)) {
    if (args[1].as_int() == 0) return Value::error(kByZero);
    if (wraps_on_divide(args[0].as_int(), args[1].as_int())) return int_overflow();
    return Value::of(args[0].as_int() / args[1].as_int());
  }
  if (both(args, Kind::Uint)) {
    if (args[1].as_uint() == 0) return Value::error(kByZero);
    return Value::of(args[0].as_uint() / args[1].as_uint());
  }
  if (both(args, Kind::Double)) return Value::of(args[0].as_double() / args[1].as_double());
  return no_such_overload();
}

Value call_modulo(Args args) {
  constexpr const char* kByZero = "modulus by zero";
  if (both(args, Kind::Int)) {
    if (args[1].as_int() == 0) return Value::error(kByZero);
    if (wraps_on_divide(args[0].as_int(), args[1].as_int())) return int_overflow();
    return Value::of(args[0].as_int() % args[1].as_int());
  }
  if (both(args, Kind::Uint)) {
    if (args[1].as_uint() == 0) return Value::error(kByZero);
    return Value::of(args[0].as_uint() % args[1].as_uint());
  }
  return no_such_overload();
}

Value call_negate(Args args) {
  if (args[0].kind() == Kind::Int) {
    if (args[0].as_int() == INT64_MIN) return int_overflow();
    return Value::of(-args[0].as_int());
  }
  if (args[0].kind() == Kind::Double) return Value::of(-args[0].as_double());
  return no_such_overload();
}

Value call_not(Args args) {
  return args[0].kind() == Kind::Bool ? Value::of(!args[0].as_bool()) : no_such_overload();
}

Value call_equal(Args args) {
  return equal(args[0], args[1]);
}

Value call_not_equal(Args args) {
  Value same = equal(args[0], args[1]);
  return same.is_error() ? same : Value::of(!same.as_bool());
}

Value call_less(Args args) {
  return ordered(args, [](std::int64_t order) { return order < 0; });
}
Value call_less_equal(Args args) {
  return ordered(args, [](std::int64_t order) { return order <= 0; });
}
Value call_greater(Args args) {
  return ordered(args, [](std::int64_t order) { return order > 0; });
}
Value call_greater_equal(Args args) {
  return ordered(args, [](std::int64_t order) { return order >= 0; });
}

Value call_in(Args args) {
  const Value& container = args[1];
  if (container.kind() == Kind::Map && !container.is_object()) {
    return Value::of(container.find(args[0]).has_value());
  }
  if (container.kind() != Kind::List) return no_such_overload();
  for (std::size_t i = 0; i < container.size(); ++i) {
    if (equal(args[0], container.at(i)).is(true)) return Value::of(true);
  }
  return Value::of(false);
}

Value call_size(Args args) {
  switch (args[0].kind()) {
    case Kind::String:
    case Kind::Bytes:
    case Kind::List:
    case Kind::Map:
      return Value::of(static_cast<std::int64_t>(args[0].cost_size()));
    case Kind::Error:
    case Kind::Null:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Double:
    case Kind::Timestamp:
    case Kind::Duration:
    case Kind::Type:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      break;
  }
  return no_such_overload();
}

Value call_map_insert(Args args) {
  if (args[0].kind() != Kind::Map) return no_such_overload();
  std::vector<std::pair<Value, Value>> entries;
  for (Value& key : args[0].keys()) {
    std::optional<Value> value = args[0].find(key);
    entries.emplace_back(std::move(key), value ? std::move(*value) : Value());
  }
  std::vector<std::pair<Value, Value>> added;
  if (args.size() == 3) {
    added.emplace_back(args[1], args[2]);
  } else if (args[1].kind() == Kind::Map) {
    for (Value& key : args[1].keys()) {
      std::optional<Value> value = args[1].find(key);
      added.emplace_back(std::move(key), value ? std::move(*value) : Value());
    }
  } else {
    return no_such_overload();
  }
  for (std::pair<Value, Value>& entry : added) {
    if (args[0].find(entry.first)) {
      const Value shown = call_string(Args(&entry.first, 1));
      return Value::error("insert failed: key " + std::string(shown.text()) + " already exists");
    }
    entries.push_back(std::move(entry));
  }
  return Value::map(std::move(entries));
}

}  // namespace krater::cel
