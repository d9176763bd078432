#include <cmath>

#include "api/cel/value.h"
#include "api/cel/value_data.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;
__extension__ using Wide = __int128;

bool is_number(const Value& value) {
  return value.kind() == Kind::Int || value.kind() == Kind::Uint || value.kind() == Kind::Double;
}

Wide wide_of(const Value& value) {
  return value.kind() == Kind::Int ? static_cast<Wide>(value.as_int())
                                   : static_cast<Wide>(value.as_uint());
}

// -1, 0, 1; 2 when not comparable (NaN).
int order_of_numbers(const Value& a, const Value& b) {
  const bool a_double = a.kind() == Kind::Double;
  const bool b_double = b.kind() == Kind::Double;
  if (!a_double && !b_double) {
    const Wide left = wide_of(a);
    const Wide right = wide_of(b);
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (a_double && b_double) {
    const double left = a.as_double();
    const double right = b.as_double();
    if (std::isnan(left) || std::isnan(right)) return 2;
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (!a_double) {
    const int mirrored = order_of_numbers(b, a);
    return mirrored == 2 ? 2 : -mirrored;
  }
  const double left = a.as_double();
  if (std::isnan(left)) return 2;
  // Outside of what the other type holds first, then exactly.
  const bool other_signed = b.kind() == Kind::Int;
  if (left < (other_signed ? -9223372036854775808.0 : 0.0)) return -1;
  if (left >= (other_signed ? 9223372036854775808.0 : 18446744073709551616.0)) return 1;
  const Wide whole = static_cast<Wide>(left);
  const Wide right = wide_of(b);
  if (whole != right) return whole < right ? -1 : 1;
  const double rest = left - static_cast<double>(whole);
  return rest < 0 ? -1 : rest > 0 ? 1 : 0;
}

bool json_equal(const Json& a, const Json& b) {
  return a == b;
}

// The text of the key fields of a list item.
std::string item_key(const Value& list, const Value& item) {
  std::string out;
  if (item.kind() != Kind::Map || item.map_data().json == nullptr) return out;
  for (const std::string& name : list.list_data().type->map_keys) {
    const Json* part = item.map_data().json->if_contains(name);
    out += part == nullptr ? std::string("null") : to_json(*part);
    out += '\0';
  }
  return out;
}

ListShape shape_of(const Value& list) {
  const ListData& data = list.list_data();
  return data.type == nullptr ? ListShape::Atomic : data.type->shape;
}

// Items under what tells them apart: their key fields, or the whole item.
std::string identity(const Value& list, const Value& item) {
  if (shape_of(list) == ListShape::Map) return item_key(list, item);
  switch (item.kind()) {
    case Kind::Bool:
      return item.as_bool() ? "b1" : "b0";
    case Kind::Int:
      return "n" + std::to_string(item.as_int());
    case Kind::Uint:
      return "n" + std::to_string(item.as_uint());
    case Kind::Double:
      return "d" + std::to_string(item.as_double());
    case Kind::String:
      return "s" + std::string(item.text());
    case Kind::Bytes:
      return "y" + std::string(item.text());
    case Kind::Error:
    case Kind::Null:
    case Kind::Timestamp:
    case Kind::Duration:
    case Kind::Type:
    case Kind::List:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      return "?";
  }
  return "?";
}

Value equal_unordered(const Value& a, const Value& b) {
  if (a.size() != b.size()) return Value::of(false);
  std::map<std::string, Value> mine;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Value item = a.at(i);
    std::string key = identity(a, item);
    mine.emplace(std::move(key), std::move(item));
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Value item = b.at(i);
    const auto found = mine.find(identity(a, item));
    if (found == mine.end()) return Value::of(false);
    Value same = equal(found->second, item);
    if (!same.is(true)) return same;
  }
  return Value::of(true);
}

Value equal_lists(const Value& a, const Value& b) {
  if (shape_of(a) != ListShape::Atomic) return equal_unordered(a, b);
  if (shape_of(b) != ListShape::Atomic) return equal_unordered(b, a);
  if (a.size() != b.size()) return Value::of(false);
  Value failure;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Value same = equal(a.at(i), b.at(i));
    if (same.is(false)) return same;
    if (same.is_error() && !failure.is_error()) failure = std::move(same);
  }
  return failure.is_error() ? failure : Value::of(true);
}

// Objects with declared fields: by their data; what has a type is compared as that type.
Value equal_objects(const Value& a, const Value& b) {
  const JsonObject& left = *a.map_data().json;
  const JsonObject& right = *b.map_data().json;
  if (left.size() != right.size()) return Value::of(false);
  for (const auto& entry : left) {
    const Json* other = right.if_contains(entry.key());
    if (other == nullptr) return Value::of(false);
    const Type* type = nullptr;
    for (const auto& [name, field] : a.map_data().type->fields) {
      if (field.json_name == std::string_view(entry.key().data(), entry.key().size())) {
        type = field.type.get();
      }
    }
    if (type == nullptr) {
      if (!json_equal(entry.value(), *other)) return Value::of(false);
      continue;
    }
    Value same = equal(Value::from_json(entry.value(), type), Value::from_json(*other, type));
    if (!same.is(true)) return same;
  }
  return Value::of(true);
}

Value equal_maps(const Value& a, const Value& b) {
  if (a.is_object() && b.is_object()) return equal_objects(a, b);
  if (a.size() != b.size()) return Value::of(false);
  for (const Value& key : a.keys()) {
    const std::optional<Value> left = a.find(key);
    const std::optional<Value> right = b.find(key);
    if (!left || !right) return Value::of(false);
    Value same = equal(*left, *right);
    if (!same.is(true)) return same;
  }
  return Value::of(true);
}

}  // namespace

std::optional<MapKey> map_key(const Value& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return MapKey{MapKey::Kind::Bool, value.as_bool() ? 1 : 0, {}};
    case Kind::Int:
    case Kind::Uint:
      return MapKey{MapKey::Kind::Number, wide_of(value), {}};
    case Kind::Double: {
      const double number = value.as_double();
      if (!(std::abs(number) < 1e19) || number != std::floor(number)) {
        return MapKey{MapKey::Kind::Fraction, 0, std::to_string(number)};
      }
      return MapKey{MapKey::Kind::Number, static_cast<Wide>(number), {}};
    }
    case Kind::String:
      return MapKey{MapKey::Kind::Text, 0, std::string(value.text())};
    case Kind::Error:
    case Kind::Null:
    case Kind::Bytes:
    case Kind::Timestamp:
    case Kind::Duration:
    case Kind::Type:
    case Kind::List:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      return std::nullopt;
  }
  return std::nullopt;
}

Value equal(const Value& a, const Value& b) {
  if (a.is_error()) return a;
  if (b.is_error()) return b;
  if (is_number(a) && is_number(b)) return Value::of(order_of_numbers(a, b) == 0);
  if (a.kind() != b.kind()) return Value::of(false);
  switch (a.kind()) {
    case Kind::Null:
      return Value::of(true);
    case Kind::Bool:
      return Value::of(a.as_bool() == b.as_bool());
    case Kind::String:
    case Kind::Bytes:
    case Kind::Type:
      return Value::of(a.text() == b.text());
    case Kind::Timestamp:
      return Value::of(a.as_timestamp() == b.as_timestamp());
    case Kind::Duration:
      return Value::of(a.as_nanos() == b.as_nanos());
    case Kind::List:
      return equal_lists(a, b);
    case Kind::Map:
      return equal_maps(a, b);
    case Kind::Optional:
      if (a.contained() == nullptr || b.contained() == nullptr) {
        return Value::of(a.contained() == b.contained());
      }
      return equal(*a.contained(), *b.contained());
    case Kind::Opaque:
      return Value::of(a.as_opaque().type_name() == b.as_opaque().type_name() &&
                       a.as_opaque().equals(b.as_opaque()));
    case Kind::Unexposed:
      return Value::of(json_equal(a.unexposed(), b.unexposed()));
    case Kind::Error:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Double:
      break;
  }
  return Value::of(false);
}

Value compare(const Value& a, const Value& b) {
  if (a.is_error()) return a;
  if (b.is_error()) return b;
  if (is_number(a) && is_number(b)) {
    const int order = order_of_numbers(a, b);
    if (order == 2) return Value::error("NaN values cannot be ordered");
    return Value::of(static_cast<std::int64_t>(order));
  }
  if (a.kind() != b.kind()) return Value::error("no such overload");
  const auto sign = [](auto less, auto greater) {
    return Value::of(static_cast<std::int64_t>(less ? -1 : greater ? 1 : 0));
  };
  switch (a.kind()) {
    case Kind::Bool:
      return sign(a.as_bool() < b.as_bool(), a.as_bool() > b.as_bool());
    case Kind::String:
    case Kind::Bytes:
      return sign(a.text() < b.text(), a.text() > b.text());
    case Kind::Timestamp:
      return sign(a.as_timestamp() < b.as_timestamp(), a.as_timestamp() > b.as_timestamp());
    case Kind::Duration:
      return sign(a.as_nanos() < b.as_nanos(), a.as_nanos() > b.as_nanos());
    case Kind::Error:
    case Kind::Null:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Double:
    case Kind::Type:
    case Kind::List:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      break;
  }
  return Value::error("no such overload");
}

Value concatenate(const Value& a, const Value& b) {
  std::vector<Value> items;
  items.reserve(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); ++i) items.push_back(a.at(i));
  if (shape_of(a) == ListShape::Atomic) {
    for (std::size_t i = 0; i < b.size(); ++i) items.push_back(b.at(i));
    return Value::list(std::move(items));
  }
  // Of sets the new items are added; of map lists the items with a known key are replaced in place.
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) places.emplace(identity(a, items[i]), i);
  for (std::size_t i = 0; i < b.size(); ++i) {
    Value item = b.at(i);
    const auto [place, added] = places.emplace(identity(a, item), items.size());
    if (added) {
      items.push_back(std::move(item));
    } else {
      items[place->second] = std::move(item);
    }
  }
  return Value::list(std::move(items));
}

}  // namespace krater::cel
