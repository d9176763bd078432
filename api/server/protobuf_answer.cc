#include "api/server/protobuf_answer.h"

#include <algorithm>
#include <utility>

#include "api/machinery/protobuf_encode.h"

namespace krater::api {
namespace {

constexpr std::string_view kMeta = "meta.k8s.io/v1";

// PartialObjectMetadata{1: ObjectMeta}.
std::string encode_partial(const KindSchema& schema, const JsonObject& object) {
  JsonObject metadata;
  if (const Json* value = object.if_contains("metadata")) metadata["metadata"] = *value;
  return encode_protobuf_message(schema.root(), metadata);
}

std::string encode_item(const KindSchema& schema, const Json& item, bool partial) {
  if (!item.is_object()) return {};
  return partial ? encode_partial(schema, item.get_object())
                 : encode_protobuf_message(schema.root(), item.get_object());
}

// In its envelope; nothing when it is of no type that has a protobuf form.
std::optional<std::string> encode(const KindSchema& schema, const Json& object) {
  const std::string kind = text_at(object, {"kind"});
  const std::string api_version = text_at(object, {"apiVersion"});
  if (kind == "Status" && api_version == "v1") return protobuf_status(object);
  const bool partial = api_version == kMeta;
  const bool list = kind == (partial ? "PartialObjectMetadataList" : schema.list_kind());
  if (!list) {
    if (kind != (partial ? "PartialObjectMetadata" : schema.kind().kind)) return std::nullopt;
    return protobuf_envelope(api_version, kind, encode_item(schema, object, partial));
  }
  std::vector<std::string> items;
  if (const JsonArray* array = array_at(object, {"items"})) {
    items.reserve(array->size());
    for (const Json& item : *array) items.push_back(encode_item(schema, item, partial));
  }
  const JsonObject* metadata = object_at(object, {"metadata"});
  return protobuf_envelope(api_version, kind,
                           protobuf_list(metadata == nullptr ? JsonObject() : *metadata, items));
}

}  // namespace

bool has_protobuf(const Exchange& exchange) {
  return exchange.schema != nullptr && exchange.schema->built_in() &&
         exchange.path.subresource != "scale";
}

Response to_protobuf(const Exchange& exchange, Response response) {
  if (response.stream || response.upgrade) return response;
  const auto type =
      std::find_if(response.headers.begin(), response.headers.end(),
                   [](const Header& header) { return header.first == "Content-Type"; });
  if (type == response.headers.end() || type->second != kJsonType) return response;
  const Result<Json> document = parse_json(response.body.text());
  if (!document) return response;
  const bool status = text_at(*document, {"kind"}) == "Status";
  if (!status && !has_protobuf(exchange)) return response;
  std::optional<std::string> bytes =
      status ? protobuf_status(*document) : encode(*exchange.schema, *document);
  if (!bytes) return response;
  type->second = kProtobufType;
  response.body = Rope(*std::move(bytes));
  return response;
}

std::string protobuf_frame(const KindSchema& schema, std::string_view type, const Json& object) {
  const std::string event =
      protobuf_watch_event(type, encode(schema, object).value_or(std::string()));
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(event.size() >> shift & 0xff));
  return out + event;
}

}  // namespace krater::api
