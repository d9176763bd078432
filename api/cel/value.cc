#include "api/cel/value.h"

#include <cmath>

#include "api/cel/times.h"
#include "api/cel/value_data.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

std::string_view json_kind_name(const Json& json) {
  switch (json.kind()) {
    case boost::json::kind::null:
      return "<nil>";
    case boost::json::kind::bool_:
      return "bool";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "int64";
    case boost::json::kind::double_:
      return "float64";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "[]interface {}";
    case boost::json::kind::object:
      return "map[string]interface {}";
  }
  return "";
}

Value wrong_data(std::string_view expected, const Json& json) {
  return Value::error("invalid data, expected " + std::string(expected) + ", got " +
                      std::string(json_kind_name(json)));
}

Value integer_of(const Json& json) {
  if (json.is_int64()) return Value::of(static_cast<std::int64_t>(json.get_int64()));
  if (json.is_uint64() && json.get_uint64() <= INT64_MAX) {
    return Value::of(static_cast<std::int64_t>(json.get_uint64()));
  }
  return wrong_data("int", json);
}

Value number_of(const Json& json) {
  if (json.is_int64()) return Value::of(static_cast<double>(json.get_int64()));
  if (json.is_uint64()) return Value::of(static_cast<double>(json.get_uint64()));
  if (json.is_double()) return Value::of(json.get_double());
  return wrong_data("float", json);
}

Value timestamp_of(std::string_view text, const Type& type) {
  const bool date = type.form == DataForm::Date;
  const std::optional<Timestamp> time =
      date ? parse_timestamp(std::string(text) + "T00:00:00Z") : parse_timestamp(text);
  if (time) return Value::of(*time);
  return Value::error(std::string("Invalid ") + (date ? "date" : "date-time") +
                      " formatted string " + std::string(text));
}

Value duration_of(std::string_view text) {
  const std::optional<std::int64_t> nanos = parse_duration(text);
  if (nanos) return Value::of(Nanoseconds{*nanos});
  return Value::error("Invalid duration " + std::string(text));
}

Value bytes_of(std::string_view text) {
  std::optional<std::string> decoded = base64_decode(text);
  if (decoded) return Value::bytes(std::move(*decoded));
  return Value::error("Invalid byte formatted string " + std::string(text));
}

}  // namespace

Value Value::owned_text(Kind kind, std::string value) {
  auto owned = std::make_shared<const std::string>(std::move(value));
  const std::string_view view = *owned;
  return Value(kind, Text{std::move(owned), view});
}

Value Value::error(std::string message) {
  return owned_text(Kind::Error, std::move(message));
}
Value Value::string(std::string value) {
  return owned_text(Kind::String, std::move(value));
}
Value Value::bytes(std::string value) {
  return owned_text(Kind::Bytes, std::move(value));
}
Value Value::type(std::string name) {
  return owned_text(Kind::Type, std::move(name));
}
Value Value::string_view_of(std::string_view value) {
  return Value(Kind::String, Text{nullptr, value});
}
Value Value::list(std::vector<Value> items) {
  auto data = std::make_shared<ListData>();
  data->items = std::move(items);
  return Value(Kind::List, std::shared_ptr<const ListData>(std::move(data)));
}

Value Value::map(std::vector<std::pair<Value, Value>> entries) {
  auto data = std::make_shared<MapData>();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::optional<MapKey> key = map_key(entries[i].first);
    if (!key) return error("unsupported key type: " + entries[i].first.type_name());
    const auto [place, added] = data->index.emplace(std::move(*key), data->entries.size());
    if (added) {
      data->entries.push_back(std::move(entries[i]));
    } else {
      data->entries[place->second].second = std::move(entries[i].second);
    }
  }
  return Value(Kind::Map, std::shared_ptr<const MapData>(std::move(data)));
}

Value Value::some(Value value) {
  return Value(Kind::Optional, std::make_shared<const Value>(std::move(value)));
}

Value Value::opaque(std::shared_ptr<const Opaque> value) {
  return Value(Kind::Opaque, std::move(value));
}

Value Value::lazy(const LazyFields& fields) {
  auto data = std::make_shared<MapData>();
  data->lazy = &fields;
  return Value(Kind::Map, std::shared_ptr<const MapData>(std::move(data)));
}

Value Value::from_json(const Json& json, const Type* type) {
  if (type != nullptr && type->form == DataForm::Unexposed) return Value(Kind::Unexposed, &json);
  const TypeKind want = type == nullptr ? TypeKind::Dyn : type->kind;
  if (json.is_null()) {
    if (want == TypeKind::Dyn || type->nullable) return {};
    return error("invalid data, got null for schema with nullable=false");
  }
  if (type != nullptr && type->form == DataForm::IntOrString) {
    if (json.is_string()) return string_view_of(view(json.get_string()));
    if (json.is_int64()) return integer_of(json);
    return error("invalid data, expected XIntOrString value to be either a string or integer");
  }
  switch (want) {
    case TypeKind::Bool:
      return json.is_bool() ? of(json.get_bool()) : wrong_data("bool", json);
    case TypeKind::Int:
      return integer_of(json);
    case TypeKind::Double:
      return number_of(json);
    case TypeKind::String:
      return json.is_string() ? string_view_of(view(json.get_string()))
                              : wrong_data("string", json);
    case TypeKind::Bytes:
      return json.is_string() ? bytes_of(view(json.get_string())) : wrong_data("string", json);
    case TypeKind::Timestamp:
      return json.is_string() ? timestamp_of(view(json.get_string()), *type)
                              : wrong_data("string", json);
    case TypeKind::Duration:
      return json.is_string() ? duration_of(view(json.get_string())) : wrong_data("string", json);
    case TypeKind::List: {
      if (!json.is_array()) {
        return error("invalid data, expected an array for the provided schema with type=array");
      }
      auto data = std::make_shared<ListData>();
      data->json = &json.get_array();
      data->type = type;
      return Value(Kind::List, std::shared_ptr<const ListData>(std::move(data)));
    }
    case TypeKind::Map:
    case TypeKind::Object: {
      if (!json.is_object()) {
        return error("invalid data, expected a map for the provided schema with type=object");
      }
      auto data = std::make_shared<MapData>();
      data->json = &json.get_object();
      data->type = type;
      return Value(Kind::Map, std::shared_ptr<const MapData>(std::move(data)));
    }
    case TypeKind::Dyn:
    case TypeKind::Error:
    case TypeKind::Null:
    case TypeKind::Uint:
    case TypeKind::Type:
    case TypeKind::Opaque:
    case TypeKind::Var:
      break;
  }
  switch (json.kind()) {
    case boost::json::kind::null:
      return {};
    case boost::json::kind::bool_:
      return of(json.get_bool());
    case boost::json::kind::int64:
      return of(static_cast<std::int64_t>(json.get_int64()));
    case boost::json::kind::uint64:
      return of(static_cast<double>(json.get_uint64()));
    case boost::json::kind::double_:
      return of(json.get_double());
    case boost::json::kind::string:
      return string_view_of(view(json.get_string()));
    case boost::json::kind::array: {
      auto data = std::make_shared<ListData>();
      data->json = &json.get_array();
      return Value(Kind::List, std::shared_ptr<const ListData>(std::move(data)));
    }
    case boost::json::kind::object: {
      auto data = std::make_shared<MapData>();
      data->json = &json.get_object();
      return Value(Kind::Map, std::shared_ptr<const MapData>(std::move(data)));
    }
  }
  return {};
}

std::size_t Value::size() const {
  if (kind_ == Kind::List) {
    const ListData& data = list_data();
    return data.json != nullptr ? data.json->size() : data.items.size();
  }
  const MapData& data = map_data();
  return data.json != nullptr ? data.json->size() : data.entries.size();
}

Value Value::at(std::size_t index) const {
  const ListData& data = list_data();
  if (data.json == nullptr) return data.items[index];
  return from_json((*data.json)[index],
                   data.type == nullptr ? nullptr : data.type->params[0].get());
}

bool Value::is_object() const {
  if (kind_ != Kind::Map) return false;
  const MapData& data = map_data();
  return data.type != nullptr && data.type->kind == TypeKind::Object;
}

std::optional<Value> Value::field(std::string_view name) const {
  const MapData& data = map_data();
  if (data.lazy != nullptr) return data.lazy->field(name);
  if (data.json == nullptr) return find(string_view_of(name));
  if (data.type == nullptr || data.type->kind == TypeKind::Map) {
    const Json* json = data.json->if_contains(name);
    if (json == nullptr) return std::nullopt;
    return from_json(*json, data.type == nullptr ? nullptr : data.type->params[1].get());
  }
  const auto declared = data.type->fields.find(name);
  if (declared == data.type->fields.end() || !declared->second.exposed) return std::nullopt;
  const Json* json = data.json->if_contains(declared->second.json_name);
  if (json == nullptr) return std::nullopt;
  return from_json(*json, declared->second.type.get());
}

std::optional<Value> Value::find(const Value& key) const {
  const MapData& data = map_data();
  if (data.json != nullptr || data.lazy != nullptr) {
    if (key.kind() != Kind::String) return std::nullopt;
    return field(key.text());
  }
  const std::optional<MapKey> wanted = map_key(key);
  if (!wanted) return std::nullopt;
  const auto found = data.index.find(*wanted);
  if (found == data.index.end()) return std::nullopt;
  return data.entries[found->second].second;
}

std::vector<Value> Value::keys() const {
  const MapData& data = map_data();
  std::vector<Value> out;
  out.reserve(size());
  if (data.json == nullptr) {
    for (const auto& entry : data.entries) out.push_back(entry.first);
    return out;
  }
  for (const auto& entry : *data.json) {
    out.push_back(string_view_of(std::string_view(entry.key().data(), entry.key().size())));
  }
  return out;
}

std::uint64_t code_points(std::string_view text) {
  std::uint64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::uint64_t Value::cost_size() const {
  switch (kind_) {
    case Kind::String:
      return code_points(text());
    case Kind::Bytes:
      return text().size();
    case Kind::List:
    case Kind::Map:
      return size();
    case Kind::Optional:
      return contained() == nullptr ? 1 : contained()->cost_size();
    case Kind::Opaque:
      return as_opaque().size();
    case Kind::Error:
    case Kind::Null:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Double:
    case Kind::Timestamp:
    case Kind::Duration:
    case Kind::Type:
    case Kind::Unexposed:
      return 1;
  }
  return 1;
}

std::string Value::type_name() const {
  switch (kind_) {
    case Kind::Error:
      return "error";
    case Kind::Null:
      return "null_type";
    case Kind::Bool:
      return "bool";
    case Kind::Int:
      return "int";
    case Kind::Uint:
      return "uint";
    case Kind::Double:
      return "double";
    case Kind::String:
      return "string";
    case Kind::Bytes:
      return "bytes";
    case Kind::Timestamp:
      return "google.protobuf.Timestamp";
    case Kind::Duration:
      return "google.protobuf.Duration";
    case Kind::Type:
      return "type";
    case Kind::List:
      return "list";
    case Kind::Map:
      return is_object() ? "object" : "map";
    case Kind::Optional:
      return "optional_type";
    case Kind::Opaque:
      return std::string(as_opaque().type_name());
    case Kind::Unexposed:
      return "unknown";
  }
  return "";
}

}  // namespace krater::cel
