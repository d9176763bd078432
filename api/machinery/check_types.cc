#include "api/machinery/check_types.h"

#include <limits>

#include "api/machinery/field_path.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "base/time.h"

namespace krater::api {
namespace {

// What Go calls a JSON value that does not fit. Numbers are shown only when their type was right
// but not their value.
std::string go_value(const Json& value, bool show_number) {
  switch (value.kind()) {
    case boost::json::kind::object:
      return "object";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::bool_:
      return "bool";
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return show_number ? "number " + to_json(value) : "number";
  }
  return "value";
}

class TypeChecker {
 public:
  Result<void> object(const SchemaNode& node, const JsonObject& value, const FieldPath& path,
                      bool native) {
    for (const auto& entry : value) {
      const Property* property = node.property(std::string_view(entry.key()));
      if (property == nullptr || entry.value().is_null()) continue;
      const bool typed = native || property->node->type_name == "meta/v1.ObjectMeta";
      if (!typed) continue;
      TRY(check(*property->node, entry.value(), path.field(std::string_view(entry.key())), node));
    }
    return {};
  }

 private:
  Error mismatch(const SchemaNode& node, const Json& value, const FieldPath& path,
                 const SchemaNode& parent, bool show_number = false) {
    return make_error(Code::BadRequest, "json: cannot unmarshal " + go_value(value, show_number) +
                                            " into Go struct field " +
                                            std::string(parent.short_name()) + "." +
                                            path.fields_only() + " of type " + go_type(node));
  }

  Result<void> check(const SchemaNode& node, const Json& value, const FieldPath& path,
                     const SchemaNode& parent) {
    switch (node.type) {
      case NodeType::Any:
        return {};
      case NodeType::Object:
        if (!value.is_object()) return mismatch(node, value, path, parent);
        return node.is_map() ? map(node, value.get_object(), path, parent)
                             : object(node, value.get_object(), path, true);
      case NodeType::Array:
        if (!value.is_array()) return mismatch(node, value, path, parent);
        return list(node, value.get_array(), path, parent);
      case NodeType::String:
        if (!value.is_string()) return mismatch(node, value, path, parent);
        return text(node, view(value.get_string()), path);
      case NodeType::Boolean:
        if (!value.is_bool()) return mismatch(node, value, path, parent);
        return {};
      case NodeType::Integer:
        return integer(node, value, path, parent);
      case NodeType::Number:
        if (!value.is_number()) return mismatch(node, value, path, parent);
        return {};
      case NodeType::IntOrString:
        if (!value.is_string() && !value.is_number()) return mismatch(node, value, path, parent);
        return value.is_number() ? integer(node, value, path, parent) : Result<void>();
      case NodeType::Quantity:
        return quantity(node, value, path, parent);
    }
    return {};
  }

  Result<void> map(const SchemaNode& node, const JsonObject& value, const FieldPath& path,
                   const SchemaNode& parent) {
    for (const auto& entry : value) {
      TRY(check(*node.values, entry.value(), path.key(std::string_view(entry.key())), parent));
    }
    return {};
  }

  Result<void> list(const SchemaNode& node, const JsonArray& value, const FieldPath& path,
                    const SchemaNode& parent) {
    if (node.items == nullptr) return {};
    for (std::size_t i = 0; i < value.size(); ++i) {
      TRY(check(*node.items, value[i], path.index(i), parent));
    }
    return {};
  }

  Result<void> integer(const SchemaNode& node, const Json& value, const FieldPath& path,
                       const SchemaNode& parent) {
    if (!value.is_number()) return mismatch(node, value, path, parent);
    const bool narrow = node.format == ValueFormat::Int32 || node.type == NodeType::IntOrString;
    const auto number = value.is_double() ? std::nullopt : as_int(value);
    if (!number || (narrow && (*number > std::numeric_limits<std::int32_t>::max() ||
                               *number < std::numeric_limits<std::int32_t>::min()))) {
      return mismatch(node, value, path, parent, true);
    }
    return {};
  }

  Result<void> quantity(const SchemaNode& node, const Json& value, const FieldPath& path,
                        const SchemaNode& parent) {
    if (!value.is_string() && !value.is_number()) return mismatch(node, value, path, parent);
    const std::string written =
        value.is_string() ? std::string(view(value.get_string())) : to_json(value);
    if (auto parsed = Quantity::parse(written); !parsed) {
      return make_error(Code::BadRequest, path.text() + ": " + parsed.error().message);
    }
    return {};
  }

  Result<void> text(const SchemaNode& node, std::string_view value, const FieldPath& path) {
    if (node.format == ValueFormat::Byte && !base64_decode(value)) {
      return make_error(Code::BadRequest, path.text() + ": illegal base64 data");
    }
    if ((node.format == ValueFormat::DateTime || node.format == ValueFormat::MicroTime) && !value.empty() &&
        !parse_rfc3339(value)) {
      const std::string quoted = '"' + std::string(value) + '"';
      return make_error(Code::BadRequest, "parsing time " + quoted +
                                              " as \"2006-01-02T15:04:05Z07:00\": cannot parse " +
                                              quoted + " as \"2006\"");
    }
    return {};
  }
};

}  // namespace

std::string go_type(const SchemaNode& node) {
  switch (node.type) {
    case NodeType::Any:
      return "interface {}";
    case NodeType::Object:
      if (node.is_map()) return "map[string]" + go_type(*node.values);
      return "v1." + std::string(node.short_name());
    case NodeType::Array:
      return "[]" + (node.items == nullptr ? "interface {}" : go_type(*node.items));
    case NodeType::String:
      if (node.format == ValueFormat::Byte) return "[]uint8";
      return node.format == ValueFormat::DateTime    ? "v1.Time"
             : node.format == ValueFormat::MicroTime ? "v1.MicroTime"
                                                : "string";
    case NodeType::Integer:
      return node.format == ValueFormat::Int32 ? "int32" : "int64";
    case NodeType::Number:
      return "float64";
    case NodeType::Boolean:
      return "bool";
    case NodeType::IntOrString:
      return "intstr.IntOrString";
    case NodeType::Quantity:
      return "resource.Quantity";
  }
  return {};
}

Result<void> check_object_types(const SchemaNode& node, bool native, const Json& object) {
  const JsonObject* fields = object.if_object();
  if (fields == nullptr) {
    return make_error(Code::BadRequest, "json: cannot unmarshal " + go_value(object, false) +
                                            " into Go value of type " + go_type(node));
  }
  return TypeChecker().object(node, *fields, FieldPath(), native);
}

}  // namespace krater::api
