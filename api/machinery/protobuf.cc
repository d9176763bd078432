#include "api/machinery/protobuf.h"

#include <cstring>

#include "api/machinery/schema_unions.h"
#include "api/machinery/wire.h"
#include "base/strings.h"
#include "base/time.h"

namespace krater::api {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 64;  // the deepest legal object has about twenty levels

Error broken(std::string_view why) {
  return make_error(Code::BadRequest,
                    "the request body is not valid protobuf: " + std::string(why));
}

bool is_utf8_text(std::string_view text) {
  // The parser of JSON checks encoding; a string literal made of the text passes exactly when it is
  // valid.
  std::string literal;
  append_json_string(literal, text);
  return parse_json(literal).has_value();
}

class Decoder {
 public:
  Result<void> message(const SchemaNode& node, std::string_view bytes, JsonObject& out, int depth) {
    if (depth > kMaxDepth) return broken("nested too deep");
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      TRY(one_field(node, field, out, depth));
    }
    for (const Property& property : node.properties) finish(property, out);
    return {};
  }

 private:
  Result<void> one_field(const SchemaNode& node, const WireField& field, JsonObject& out,
                         int depth) {
    for (const InlinedMessage& inlined : node.inlined) {
      if (inlined.proto == field.number) return message(*inlined.node, field.bytes, out, depth + 1);
    }
    for (const Property& property : node.properties) {
      if (property.proto != field.number) continue;
      const SchemaUnion either = union_of(node, property.name);
      if (either == SchemaUnion::None) return into(property, field, out, depth);
      return one_of(node, either, field.bytes, out[property.name], depth);
    }
    return {};  // unknown fields are skipped
  }

  Result<void> one_of(const SchemaNode& schema, SchemaUnion either, std::string_view bytes,
                      Json& out, int depth) {
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      const int schema_at = either == SchemaUnion::SchemaOrBool ? 2 : 1;
      if (field.number == schema_at) {
        JsonObject object;
        TRY(message(schema, field.bytes, object, depth + 1));
        out = std::move(object);
      } else if (either == SchemaUnion::SchemaOrBool) {
        if (!out.is_object()) out = field.value != 0;
      } else {
        return broken("a schema has a list where one schema belongs");
      }
    }
    return {};
  }

  Result<void> into(const Property& property, const WireField& field, JsonObject& out, int depth) {
    const SchemaNode& node = *property.node;
    if (node.type == NodeType::Array && !node.wrapped_list) {
      Json& list = out[property.name];
      if (!list.is_array()) list = JsonArray();
      return append(*node.items, field, list.get_array(), depth);
    }
    if (node.is_map()) {
      Json& map = out[property.name];
      if (!map.is_object()) map = JsonObject();
      return map_entry(*node.values, field.bytes, map.get_object(), depth);
    }
    TRY_ASSIGN(Json value, single(node, field, depth));
    // An empty time is null, which is the same as absent.
    if (value.is_null()) {
      out.stable_erase(property.name);
    } else {
      out[property.name] = std::move(value);
    }
    return {};
  }

  Result<void> append(const SchemaNode& item, const WireField& field, JsonArray& list, int depth) {
    const bool packed = field.type == WireType::Bytes &&
                        (item.type == NodeType::Integer || item.type == NodeType::Boolean);
    if (!packed) {
      TRY_ASSIGN(Json value, single(item, field, depth));
      list.push_back(std::move(value));
      return {};
    }
    WireReader reader(field.bytes);
    while (!reader.done()) {
      const auto number = reader.varint();
      if (!number) return broken("a packed list ends early");
      list.push_back(scalar(item, *number));
    }
    return {};
  }

  Result<void> map_entry(const SchemaNode& values, std::string_view bytes, JsonObject& map,
                         int depth) {
    std::string key;
    Json value = values.type == NodeType::Object     ? Json(JsonObject())
                 : values.type == NodeType::Quantity ? Json("0")
                                                     : Json("");
    if (values.type == NodeType::Array) value = JsonArray();
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number == 1) {
        key = field.bytes;
      } else if (field.number == 2) {
        TRY_ASSIGN(value, single(values, field, depth));
      }
    }
    if (!is_utf8_text(key)) return broken("a key is not UTF-8");
    map[key] = std::move(value);
    return {};
  }

  // One value of any type but plain lists and maps.
  Result<Json> single(const SchemaNode& node, const WireField& field, int depth) {
    switch (node.type) {
      case NodeType::String:
        return text(node, field.bytes);
      case NodeType::Integer:
      case NodeType::Boolean:
        if (field.type != WireType::Varint) return broken("a number is not a varint");
        return scalar(node, field.value);
      case NodeType::Number: {
        double number = 0;
        static_assert(sizeof(number) == sizeof(field.value));
        std::memcpy(&number, &field.value, sizeof(number));
        return Json(number);
      }
      case NodeType::Quantity:
        return wrapped_text(field.bytes);
      case NodeType::IntOrString:
        return int_or_string(field.bytes);
      case NodeType::Array:
        return wrapped_list(*node.items, field.bytes, depth);
      case NodeType::Object:
        if (node.preserve_unknown) return raw(field.bytes);
        break;
      case NodeType::Any:
        return raw(field.bytes);
    }
    JsonObject object;
    TRY(message(node, field.bytes, object, depth + 1));
    return Json(std::move(object));
  }

  static Json scalar(const SchemaNode& node, std::uint64_t value) {
    if (node.type == NodeType::Boolean) return Json(value != 0);
    if (node.format == ValueFormat::Int32)
      return Json(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
    return Json(static_cast<std::int64_t>(value));
  }

  static Result<Json> text(const SchemaNode& node, std::string_view bytes) {
    if (node.format == ValueFormat::Byte) return Json(base64_encode(bytes));
    if (node.format == ValueFormat::DateTime || node.format == ValueFormat::MicroTime)
      return time(node.format, bytes);
    if (!is_utf8_text(bytes)) return broken("a string is not UTF-8");
    return Json(std::string(bytes));
  }

  static Result<Json> time(ValueFormat format, std::string_view bytes) {
    std::int64_t seconds = 0, nanos = 0;
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number == 1) seconds = static_cast<std::int64_t>(field.value);
      if (field.number == 2) nanos = static_cast<std::int32_t>(field.value);
    }
    // Go's zero time stands 62 centuries before the epoch; both forms of "no time" come as null.
    constexpr std::int64_t kGoZeroSeconds = -62'135'596'800, kMaxSeconds = 9'000'000'000;
    // What is cut off does not count.
    const std::int64_t cut = format == ValueFormat::MicroTime ? 1'000 : 1'000'000'000;
    if ((seconds == 0 && nanos >= 0 && nanos < cut) || seconds == kGoZeroSeconds) return Json();
    if (seconds < -kMaxSeconds || seconds > kMaxSeconds || nanos < 0 || nanos > 999'999'999)
      return broken("a time is out of range");
    const WallTime at(seconds * 1'000'000'000 + nanos);
    return Json(format == ValueFormat::MicroTime ? to_rfc3339_micro(at) : to_rfc3339(at));
  }

  static Result<Json> wrapped_text(std::string_view bytes) {
    std::string_view text = "0";
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number == 1) text = field.bytes;
    }
    if (!is_utf8_text(text)) return broken("a quantity is not UTF-8");
    return Json(std::string(text));
  }

  static Result<Json> int_or_string(std::string_view bytes) {
    bool is_text = false;
    std::int32_t number = 0;
    std::string_view text;
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number == 1) is_text = field.value == 1;
      if (field.number == 2) number = static_cast<std::int32_t>(field.value);
      if (field.number == 3) text = field.bytes;
    }
    if (!is_text) return Json(number);
    if (!is_utf8_text(text)) return broken("a string is not UTF-8");
    return Json(std::string(text));
  }

  Result<Json> wrapped_list(const SchemaNode& item, std::string_view bytes, int depth) {
    JsonArray list;
    WireReader reader(bytes);
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number == 1) TRY(append(item, field, list, depth + 1));
    }
    return Json(std::move(list));
  }

  // RawExtension, FieldsV1: {1: JSON text}.
  static Result<Json> raw(std::string_view bytes) {
    WireReader reader(bytes);
    Json value = JsonObject();
    while (!reader.done()) {
      TRY_ASSIGN(const WireField field, reader.next());
      if (field.number != 1 || field.bytes.empty()) continue;
      TRY_ASSIGN(value, parse_json(field.bytes));
    }
    return value;
  }

  // What the original encoder of JSON would leave out: zero scalars without a pointer.
  static void finish(const Property& property, JsonObject& out) {
    if (property.presence != Presence::Omit) return;
    const Json* value = out.if_contains(property.name);
    if (value == nullptr) return;
    const NodeType type = property.node->type;  // a false or 0 in free JSON is a value
    const bool zero =
        (type == NodeType::String && value->is_string() && value->get_string().empty()) ||
        (type == NodeType::Boolean && value->is_bool() && !value->get_bool()) ||
        ((type == NodeType::Integer || type == NodeType::Number) && value->is_number() &&
         value->to_number<double>() == 0);
    if (zero) out.stable_erase(property.name);
  }
};

}  // namespace

Result<ProtobufEnvelope> read_envelope(std::string_view body) {
  if (body.substr(0, kMagic.size()) != kMagic) {
    return make_error(
        Code::BadRequest,
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  ProtobufEnvelope envelope;
  WireReader reader(body.substr(kMagic.size()));
  while (!reader.done()) {
    TRY_ASSIGN(const WireField field, reader.next());
    if (field.number == 2) envelope.raw = field.bytes;
    if (field.number != 1) continue;
    WireReader type_meta(field.bytes);
    while (!type_meta.done()) {
      TRY_ASSIGN(const WireField part, type_meta.next());
      if (part.number == 1) envelope.api_version = part.bytes;
      if (part.number == 2) envelope.kind = part.bytes;
    }
  }
  if (!is_utf8_text(envelope.api_version) || !is_utf8_text(envelope.kind))
    return broken("a string is not UTF-8");
  return envelope;
}

Result<Json> decode_protobuf_object(const SchemaNode& node, std::string_view body) {
  TRY_ASSIGN(const ProtobufEnvelope envelope, read_envelope(body));
  JsonObject object;
  object.emplace("kind", envelope.kind);
  object.emplace("apiVersion", envelope.api_version);
  TRY(Decoder().message(node, envelope.raw, object, 0));
  return Json(std::move(object));
}

}  // namespace krater::api
