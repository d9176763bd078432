#include "api/machinery/protobuf_encode.h"

#include <algorithm>
#include <bit>

#include "api/machinery/schema_unions.h"
#include "api/machinery/wire.h"
#include "base/strings.h"
#include "base/time.h"

namespace krater::api {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};

std::int64_t integer(const Json& value) {
  if (const auto number = as_int(value)) return *number;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  const double number = value.is_number() ? value.to_number<double>() : 0;
  return number >= -kEnd && number < kEnd ? static_cast<std::int64_t>(number) : 0;
}

std::string_view text_of(const Json& value) {
  return value.is_string() ? view(value.get_string()) : std::string_view();
}

// Seconds and nanoseconds; MicroTime is cut by its text form already.
std::string encode_time(std::string_view text) {
  WireWriter out;
  if (const auto at = parse_rfc3339(text)) {
    const std::int64_t seconds = at->unix_seconds();
    out.number(1, static_cast<std::uint64_t>(seconds));
    out.number(2, static_cast<std::uint64_t>(at->unix_nanos() - seconds * 1'000'000'000));
  }
  return out.take();
}

std::string encode_int_or_string(const Json& value) {
  WireWriter out;
  const bool is_text = value.is_string();
  out.number(1, is_text ? 1 : 0);
  out.number(2, is_text ? 0 : static_cast<std::uint64_t>(integer(value)));
  out.bytes(3, text_of(value));
  return out.take();
}

std::string wrapped(std::string_view bytes) {
  WireWriter out;
  out.bytes(1, bytes);
  return out.take();
}

class Encoder {
 public:
  // Fields in the order of their numbers, as every encoder of protobuf writes them.
  static std::string message(const SchemaNode& node, const JsonObject& object) {
    struct Part {
      int number;
      const Property* property;
      const SchemaNode* inlined;
    };
    std::vector<Part> parts;
    for (const Property& property : node.properties) {
      const Json* value = property.proto > 0 ? object.if_contains(property.name) : nullptr;
      if (value != nullptr && !value->is_null())
        parts.push_back({property.proto, &property, nullptr});
    }
    for (const InlinedMessage& inlined : node.inlined)
      parts.push_back({inlined.proto, nullptr, inlined.node});
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.number < b.number; });
    WireWriter out;
    for (const Part& part : parts) {
      const SchemaUnion either =
          part.property == nullptr ? SchemaUnion::None : union_of(node, part.property->name);
      if (either != SchemaUnion::None) {
        out.bytes(part.number, one_of(node, either, *object.if_contains(part.property->name)));
      } else if (part.property != nullptr) {
        field(out, part.number, *part.property->node, *object.if_contains(part.property->name));
      } else if (const std::string inner = message(*part.inlined, object); !inner.empty()) {
        out.bytes(part.number, inner);
      }
    }
    return out.take();
  }

 private:
  static std::string one_of(const SchemaNode& schema, SchemaUnion either, const Json& value) {
    WireWriter out;
    const bool boolean = either == SchemaUnion::SchemaOrBool;
    if (boolean) out.number(1, value.is_object() || value == Json(true) ? 1 : 0);
    if (value.is_object()) out.bytes(boolean ? 2 : 1, message(schema, value.get_object()));
    return out.take();
  }

  static void field(WireWriter& out, int number, const SchemaNode& node, const Json& value) {
    if (node.type == NodeType::Array && !node.wrapped_list) {
      if (!value.is_array()) return;
      for (const Json& item : value.get_array()) single(out, number, *node.items, item);
    } else if (node.is_map()) {
      if (!value.is_object()) return;
      for (const auto& entry : value.get_object()) {
        WireWriter pair;
        pair.bytes(1, std::string_view(entry.key().data(), entry.key().size()));
        single(pair, 2, *node.values, entry.value());
        out.bytes(number, pair.take());
      }
    } else {
      single(out, number, node, value);
    }
  }

  static void single(WireWriter& out, int number, const SchemaNode& node, const Json& value) {
    switch (node.type) {
      case NodeType::String:
        if (is_time(node) && !parse_rfc3339(text_of(value))) return;  // no time: as if absent
        return out.bytes(number, text(node, text_of(value)));
      case NodeType::Boolean:
        return out.number(number, value.is_bool() && value.get_bool() ? 1 : 0);
      case NodeType::Integer:
        return out.number(number, static_cast<std::uint64_t>(integer(value)));
      case NodeType::Number:
        return out.fixed64(number, std::bit_cast<std::uint64_t>(
                                       value.is_number() ? value.to_number<double>() : 0.0));
      case NodeType::Quantity:
        return out.bytes(number,
                         wrapped(value.is_string() ? std::string(text_of(value)) : to_json(value)));
      case NodeType::IntOrString:
        return out.bytes(number, encode_int_or_string(value));
      case NodeType::Array:
        return out.bytes(number, wrapped_list(*node.items, value));
      case NodeType::Object:
        if (!node.preserve_unknown) {
          return out.bytes(number,
                           value.is_object() ? message(node, value.get_object()) : std::string());
        }
        break;
      case NodeType::Any:
        break;
    }
    out.bytes(number, wrapped(to_json(value)));
  }

  static bool is_time(const SchemaNode& node) {
    return node.format == ValueFormat::DateTime || node.format == ValueFormat::MicroTime;
  }

  static std::string text(const SchemaNode& node, std::string_view text) {
    if (node.format == ValueFormat::Byte) return base64_decode(text).value_or("");
    if (is_time(node)) return encode_time(text);
    return std::string(text);
  }

  static std::string wrapped_list(const SchemaNode& item, const Json& value) {
    WireWriter out;
    if (value.is_array()) {
      for (const Json& entry : value.get_array()) single(out, 1, item, entry);
    }
    return out.take();
  }
};

// ListMeta.
std::string list_metadata(const JsonObject& metadata) {
  WireWriter out;
  const Json document(metadata);
  out.bytes(1, text_at(document, {"selfLink"}));
  out.bytes(2, text_at(document, {"resourceVersion"}));
  out.bytes(3, text_at(document, {"continue"}));
  if (const auto remaining = int_at(document, {"remainingItemCount"}))
    out.number(4, static_cast<std::uint64_t>(*remaining));
  return out.take();
}

std::string status_details(const Json& details) {
  WireWriter out;
  out.bytes(1, text_at(details, {"name"}));
  out.bytes(2, text_at(details, {"group"}));
  out.bytes(3, text_at(details, {"kind"}));
  if (const JsonArray* causes = array_at(details, {"causes"})) {
    for (const Json& cause : *causes) {
      WireWriter one;
      one.bytes(1, text_at(cause, {"reason"}));
      one.bytes(2, text_at(cause, {"message"}));
      one.bytes(3, text_at(cause, {"field"}));
      out.bytes(4, one.take());
    }
  }
  out.number(5, static_cast<std::uint64_t>(int_at(details, {"retryAfterSeconds"}).value_or(0)));
  out.bytes(6, text_at(details, {"uid"}));
  return out.take();
}

}  // namespace

std::string encode_protobuf_message(const SchemaNode& node, const JsonObject& object) {
  return Encoder::message(node, object);
}

std::string protobuf_envelope(std::string_view api_version, std::string_view kind,
                              std::string_view message) {
  WireWriter type;
  type.bytes(1, api_version);
  type.bytes(2, kind);
  WireWriter unknown;
  unknown.bytes(1, type.take());
  unknown.bytes(2, message);
  unknown.bytes(3, "");
  unknown.bytes(4, "");
  return std::string(kMagic) + unknown.take();
}

std::string protobuf_list(const JsonObject& metadata, const std::vector<std::string>& items) {
  WireWriter out;
  out.bytes(1, list_metadata(metadata));
  for (const std::string& item : items) out.bytes(2, item);
  return out.take();
}

std::string protobuf_status(const Json& status) {
  WireWriter out;
  const JsonObject* metadata = object_at(status, {"metadata"});
  out.bytes(1, list_metadata(metadata == nullptr ? JsonObject() : *metadata));
  out.bytes(2, text_at(status, {"status"}));
  out.bytes(3, text_at(status, {"message"}));
  out.bytes(4, text_at(status, {"reason"}));
  if (const Json* details = find(status, {"details"}); details != nullptr && details->is_object())
    out.bytes(5, status_details(*details));
  out.number(6, static_cast<std::uint64_t>(int_at(status, {"code"}).value_or(0)));
  return protobuf_envelope("v1", "Status", out.take());
}

std::string protobuf_watch_event(std::string_view type, std::string_view object) {
  WireWriter out;
  out.bytes(1, type);
  out.bytes(2, wrapped(object));
  return out.take();
}

}  // namespace krater::api
