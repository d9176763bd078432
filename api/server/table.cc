#include "api/server/table.h"

#include <utility>

#include "api/registry/status.h"

namespace krater::api {
namespace {

constexpr std::string_view kPartialHead =
    R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)";

JsonObject list_metadata(const ListResult& result) {
  JsonObject out{{"resourceVersion", result.revision.text()}};
  if (!result.continue_token.empty()) out["continue"] = result.continue_token;
  if (result.remaining) out["remainingItemCount"] = *result.remaining;
  return out;
}

void append_partial(std::string& out, const Json& document) {
  out += kPartialHead;
  const Json* metadata = find(document, {"metadata"});
  if (metadata == nullptr) {
    out += "{}";
  } else {
    append_json(out, *metadata);
  }
  out += '}';
}

// Pods that have ended say so on their row, so that clients can hide them.
JsonArray row_conditions(const KindSchema& schema, const Json& document) {
  JsonArray out;
  if (schema.kind() != kinds::kPod) return out;
  const std::string phase = text_at(document, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return out;
  out.push_back(JsonObject{{"type", "Completed"},
                           {"status", "True"},
                           {"reason", phase},
                           {"message", phase == "Succeeded" ? "The pod has completed successfully."
                                                            : "The pod failed."}});
  return out;
}

}  // namespace

Result<IncludeObject> include_object(std::string_view text) {
  if (text.empty() || text == "Metadata") return IncludeObject::Metadata;
  if (text == "None") return IncludeObject::None;
  if (text == "Object") return IncludeObject::Object;
  return bad_request("unrecognized includeObject value: \"" + std::string(text) + "\"");
}

void TableWriter::row(std::string& out, const Object& object) const {
  const std::shared_ptr<const Json> document = object.document();
  out += R"({"cells":)";
  append_json(out, Json(schema_.cells(*document, now_)));
  if (JsonArray conditions = row_conditions(schema_, *document); !conditions.empty()) {
    out += R"(,"conditions":)";
    append_json(out, Json(std::move(conditions)));
  }
  out += R"(,"object":)";
  switch (include_) {
    case IncludeObject::None:
      out += "null";
      break;
    case IncludeObject::Metadata:
      append_partial(out, *document);
      break;
    case IncludeObject::Object:
      out += *object.bytes();
      break;
  }
  out += '}';
}

void TableWriter::begin(std::string& out, const JsonObject& metadata, bool columns) const {
  out += R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)";
  append_json(out, Json(metadata));
  out += R"(,"columnDefinitions":)";
  if (columns) {
    JsonArray definitions;
    for (const TableColumn& column : schema_.columns()) {
      definitions.push_back(JsonObject{{"name", column.name},
                                       {"type", column.type},
                                       {"format", column.format},
                                       {"description", column.description},
                                       {"priority", column.priority}});
    }
    append_json(out, Json(std::move(definitions)));
  } else {
    out += "null";
  }
  out += R"(,"rows":[)";
}

std::string TableWriter::list(const ListResult& result) const {
  std::string out;
  begin(out, list_metadata(result), true);
  bool first = true;
  for (const ObjectPtr& object : result.items) {
    if (!std::exchange(first, false)) out += ',';
    row(out, *object);
  }
  end(out);
  return out;
}

std::string TableWriter::single(const Object& object, bool columns) const {
  std::string out;
  begin(out, {{"resourceVersion", object.revision().text()}}, columns);
  row(out, object);
  end(out);
  return out;
}

std::string TableWriter::empty(Revision at) const {
  std::string out;
  begin(out, {{"resourceVersion", at.text()}}, false);
  end(out);
  return out;
}

std::string partial_metadata(const Object& object) {
  std::string out;
  append_partial(out, *object.document());
  return out;
}

std::string partial_metadata_list(const ListResult& result) {
  std::string out =
      R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)";
  append_json(out, Json(list_metadata(result)));
  out += R"(,"items":[)";
  bool first = true;
  for (const ObjectPtr& object : result.items) {
    if (!std::exchange(first, false)) out += ',';
    append_partial(out, *object->document());
  }
  return out += "]}";
}

}  // namespace krater::api
