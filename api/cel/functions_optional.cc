// Optional values.
#include "api/cel/functions.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

bool is_zero(const Value& value) {
  switch (value.kind()) {
    case Kind::Null:
      return true;
    case Kind::Bool:
      return !value.as_bool();
    case Kind::Int:
      return value.as_int() == 0;
    case Kind::Uint:
      return value.as_uint() == 0;
    case Kind::Double:
      return value.as_double() == 0;
    case Kind::Duration:
      return value.as_nanos() == 0;
    case Kind::String:
    case Kind::Bytes:
      return value.text().empty();
    case Kind::List:
    case Kind::Map:
      return value.size() == 0;
    case Kind::Timestamp:
      return value.as_timestamp() == Timestamp{-62135596800, 0};
    case Kind::Error:
    case Kind::Type:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      return false;
  }
  return false;
}

}  // namespace

Value call_optional_of(Args args) {
  return Value::some(args[0]);
}
Value call_optional_of_non_zero(Args args) {
  return is_zero(args[0]) ? Value::none() : Value::some(args[0]);
}
Value call_optional_none(Args) {
  return Value::none();
}

Value call_optional_value(Args args) {
  if (args[0].kind() != Kind::Optional) return no_such_overload();
  const Value* contained = args[0].contained();
  return contained == nullptr ? Value::error("optional.none() dereference") : *contained;
}

Value call_optional_has_value(Args args) {
  if (args[0].kind() != Kind::Optional) return no_such_overload();
  return Value::of(args[0].contained() != nullptr);
}

Value call_optional_unwrap(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  std::vector<Value> out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    const Value item = args[0].at(i);
    if (item.kind() != Kind::Optional) {
      return Value::error("value of type " + item.type_name() + " is not optional");
    }
    if (item.contained() != nullptr) out.push_back(*item.contained());
  }
  return Value::list(std::move(out));
}

}  // namespace krater::cel
