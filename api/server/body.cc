#include "api/server/body.h"

#include <algorithm>
#include <utility>

#include "api/registry/status.h"
#include "api/server/media.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

constexpr std::size_t kFieldManagerMax = 128;

Result<DecodedBody> decode_text(const Request& request, BodyFormat format) {
  DecodedBody out;
  if (format == BodyFormat::Yaml) {
    TRY_ASSIGN(out.object, parse_yaml(request.body));
  } else {
    JsonParseOptions options;
    options.duplicates = &out.duplicates;
    TRY_ASSIGN(out.object, parse_json(request.body, options));
  }
  if (!out.object.is_object()) return bad_request("the body of the request must be an object");
  return out;
}

// YAML, of which JSON is one style: what kubectl sends is JSON.
Result<DecodedBody> decode_configuration(const Request& request) {
  const std::size_t start = request.body.find_first_not_of(" \t\r\n");
  const bool is_json = start != std::string::npos && request.body[start] == '{';
  if (is_json) {
    Result<DecodedBody> out = decode_text(request, BodyFormat::Json);
    if (out) return out;
  }
  Result<DecodedBody> out = decode_text(request, BodyFormat::Yaml);
  if (!out) return bad_request("error decoding YAML: " + out.error().message);
  return out;
}

// Clients before 1.22 evict by policy/v1beta1 and nothing else, which is of the same shape.
bool is_older_name(const Json& object, std::string_view api_version, std::string_view kind) {
  return api_version == "policy/v1" && kind == "Eviction" &&
         text_at(object, {"apiVersion"}) == "policy/v1beta1";
}

Result<void> check_type(const Json& object, std::string_view api_version, std::string_view kind) {
  const std::string said_version = text_at(object, {"apiVersion"});
  const std::string said_kind = text_at(object, {"kind"});
  if (!said_version.empty() && said_version != api_version) {
    return bad_request("the API version in the data (" + said_version +
                       ") does not match the expected API version (" + std::string(api_version) +
                       ")");
  }
  if (!said_kind.empty() && said_kind != kind) {
    return bad_request("the kind in the data (" + said_kind +
                       ") does not match the expected kind (" + std::string(kind) + ")");
  }
  return {};
}

Error unsupported(std::string_view options_kind, std::string field, const std::string& value,
                  const std::string& supported) {
  return invalid_options(
      options_kind,
      {{"FieldValueNotSupported",
        "Unsupported value: \"" + value + "\": supported values: " + supported, std::move(field)}});
}

// Nobody who names no manager stays nameless: the client's name, as upstream derives it.
std::string manager_of(const Exchange& exchange) {
  std::string name(exchange.request.query.first("fieldManager"));
  if (name.empty()) {
    const std::string_view agent = exchange.request.header("User-Agent");
    name = std::string(agent.substr(0, agent.find('/')));
  }
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c > 0x7e; });
  name.resize(std::min(name.size(), kFieldManagerMax));
  return name.empty() ? "unknown" : name;
}

Result<void> check_manager(std::string_view name, std::string_view options_kind) {
  std::vector<Cause> causes;
  if (name.size() > kFieldManagerMax) {
    causes.push_back(
        {"FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"});
  }
  // Bytes above ASCII may be printable letters.
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; })) {
    std::string shown;
    append_json_string(shown, name);
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + shown + ": should only contain printable characters",
                      "fieldManager"});
  }
  if (causes.empty()) return {};
  return invalid_options(options_kind, std::move(causes));
}

Result<bool> dry_run(const std::vector<std::string>& values, std::string_view options_kind) {
  for (const std::string& value : values) {
    if (value != "All") return unsupported(options_kind, "dryRun", value, "\"All\"");
  }
  return !values.empty();
}

Result<client::Propagation> propagation_of(const std::string& text) {
  if (text.empty()) return client::Propagation::Default;
  if (text == "Background") return client::Propagation::Background;
  if (text == "Foreground") return client::Propagation::Foreground;
  if (text == "Orphan") return client::Propagation::Orphan;
  return unsupported("DeleteOptions", "propagationPolicy", text,
                     "\"Foreground\", \"Background\", \"Orphan\"");
}

// The options of a DELETE without a body.
Result<Json> delete_options_of_query(const Query& query) {
  JsonObject out;
  TRY_ASSIGN(const std::optional<std::int64_t> grace,
             query.integer("gracePeriodSeconds", INT64_MIN));
  if (grace) out["gracePeriodSeconds"] = *grace;
  if (query.has("propagationPolicy")) out["propagationPolicy"] = query.first("propagationPolicy");
  if (query.has("orphanDependents")) out["orphanDependents"] = query.flag("orphanDependents");
  return Json(std::move(out));
}

// The options as they were given.
Json options_of(const Query& query, std::string_view kind) {
  JsonObject out{{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}};
  for (const std::string_view field : {"fieldManager", "fieldValidation"}) {
    if (query.has(field)) out[field] = query.first(field);
  }
  if (query.has("force")) out["force"] = query.flag("force");
  return out;
}

}  // namespace

Result<DecodedBody> decode_object(const Request& request, const KindSchema& schema) {
  TRY_ASSIGN(const BodyFormat format, body_format(request.header("Content-Type")));
  DecodedBody out;
  if (format == BodyFormat::Protobuf) {
    TRY_ASSIGN(out.object, schema.decode_protobuf(request.body));
  } else {
    TRY_ASSIGN(out, decode_text(request, format));
  }
  TRY(check_type(out.object, schema.kind().api_version(), schema.kind().kind));
  return out;
}

Result<DecodedBody> decode_message(const Request& request, const SchemaSet& schemas,
                                   std::string_view api_version, std::string_view name) {
  TRY_ASSIGN(const BodyFormat format, body_format(request.header("Content-Type")));
  DecodedBody out;
  if (format == BodyFormat::Protobuf) {
    TRY_ASSIGN(out.object, schemas.decode_protobuf_message("", request.body));
  } else {
    TRY_ASSIGN(out, decode_text(request, format));
  }
  if (is_older_name(out.object, api_version, name)) api_version = "policy/v1beta1";
  TRY(check_type(out.object, api_version, name));
  return out;
}

Result<Json> decode_delete_options(const Request& request, const SchemaSet& schemas) {
  if (request.body.empty()) return delete_options_of_query(request.query);
  TRY_ASSIGN(const BodyFormat format, body_format(request.header("Content-Type")));
  if (format == BodyFormat::Protobuf)
    return schemas.decode_protobuf_message("meta/v1.DeleteOptions", request.body);
  TRY_ASSIGN(DecodedBody out, decode_text(request, format));
  return std::move(out.object);
}

Result<DecodedBody> decode_patch(const Request& request, client::PatchType type) {
  if (type == client::PatchType::Apply) return decode_configuration(request);
  DecodedBody out;
  JsonParseOptions options;
  options.duplicates = &out.duplicates;
  TRY_ASSIGN(out.object, parse_json(request.body, options));
  if (type == client::PatchType::Json ? !out.object.is_array() : !out.object.is_object()) {
    return bad_request(type == client::PatchType::Json ? "a JSON patch must be a list of operations"
                                                       : "a patch must be an object");
  }
  return out;
}

Result<RequestInfo> request_info(const Exchange& exchange, std::string_view options_kind,
                                 std::vector<std::string> duplicates) {
  const Query& query = exchange.request.query;
  RequestInfo info;
  info.user = exchange.who.user;
  info.groups = exchange.who.groups;
  info.uid = exchange.who.uid;
  info.extra = exchange.who.extra;
  info.notes = exchange.notes;
  info.options = options_of(query, options_kind);
  TRY(check_manager(query.first("fieldManager"), options_kind));
  info.field_manager = manager_of(exchange);
  info.duplicate_fields = std::move(duplicates);
  TRY_ASSIGN(info.dry_run, dry_run(query.all("dryRun"), options_kind));
  const std::string validation(query.first("fieldValidation"));
  if (validation == "Strict") {
    info.field_validation = FieldValidation::Strict;
  } else if (validation == "Ignore") {
    info.field_validation = FieldValidation::Ignore;
  } else if (!validation.empty() && validation != "Warn") {
    return unsupported(options_kind, "fieldValidation", validation,
                       "\"Ignore\", \"Strict\", \"Warn\"");
  }
  return info;
}

Result<bool> patch_force(const Exchange& exchange, client::PatchType type) {
  const Query& query = exchange.request.query;
  std::vector<Cause> causes;
  const std::string manager(query.first("fieldManager"));
  if (type == client::PatchType::Apply) {
    if (manager.empty()) {
      causes.push_back(
          {"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"});
    }
  } else if (query.has("force")) {
    causes.push_back(
        {"FieldValueForbidden", "Forbidden: may not be specified for non-apply patch", "force"});
  }
  if (!causes.empty()) return invalid_options("PatchOptions", std::move(causes));
  return query.flag("force");
}

Result<DeleteRequest> delete_request(const Exchange& exchange, const SchemaSet& schemas,
                                     const Kind& kind) {
  TRY_ASSIGN(Json options, decode_delete_options(exchange.request, schemas));
  DeleteRequest out;
  out.write.kind = kind;
  out.write.name_space = exchange.path.name_space;
  out.write.name = exchange.path.name;
  std::vector<std::string> dry = exchange.request.query.all("dryRun");
  if (const JsonArray* list = array_at(options, {"dryRun"})) {
    for (const Json& value : *list)
      dry.push_back(value.is_string() ? std::string(view(value.get_string())) : "");
  }
  TRY_ASSIGN(out.dry_run, dry_run(dry, "DeleteOptions"));
  TRY_ASSIGN(out.write.propagation, propagation_of(text_at(options, {"propagationPolicy"})));
  if (const std::optional<bool> orphan = bool_at(options, {"orphanDependents"})) {
    if (out.write.propagation != client::Propagation::Default) {
      return invalid_options(
          "DeleteOptions",
          {{"FieldValueInvalid",
            "Invalid value: orphanDependents and deletionPropagation cannot be both set",
            "propagationPolicy"}});
    }
    out.write.propagation = *orphan ? client::Propagation::Orphan : client::Propagation::Background;
  }
  out.write.grace_seconds = int_at(options, {"gracePeriodSeconds"});
  const std::string uid = text_at(options, {"preconditions", "uid"});
  if (!uid.empty()) out.write.only_uid = Uid(uid);
  const std::string revision = text_at(options, {"preconditions", "resourceVersion"});
  if (!revision.empty()) {
    const std::optional<std::int64_t> number = parse_int(revision);
    if (!number)
      return bad_request("invalid resourceVersion in preconditions: \"" + revision + "\"");
    out.write.only_if = Revision(*number);
  }
  return out;
}

Result<ListQuery> list_query(const Exchange& exchange) {
  const Query& query = exchange.request.query;
  if (query.has("sendInitialEvents")) {
    return invalid_options("ListOptions", {{"FieldValueForbidden",
                                            "Forbidden: sendInitialEvents is forbidden for list",
                                            "sendInitialEvents"}});
  }
  ListQuery out;
  out.name_space = exchange.path.name_space;
  out.label_selector = query.first("labelSelector");
  out.field_selector = query.first("fieldSelector");
  TRY_ASSIGN(const std::optional<std::int64_t> limit, query.integer("limit", 0));
  out.limit = limit.value_or(0);
  out.continue_token = query.first("continue");
  out.resource_version = query.first("resourceVersion");
  out.resource_version_match = query.first("resourceVersionMatch");
  return out;
}

Result<WatchQuery> watch_query(const Exchange& exchange) {
  const Query& query = exchange.request.query;
  WatchQuery out;
  out.name_space = exchange.path.name_space;
  out.label_selector = query.first("labelSelector");
  out.field_selector = query.first("fieldSelector");
  out.resource_version = query.first("resourceVersion");
  out.resource_version_match = query.first("resourceVersionMatch");
  if (query.has("sendInitialEvents")) out.send_initial_events = query.flag("sendInitialEvents");
  out.bookmarks = query.flag("allowWatchBookmarks");
  return out;
}

}  // namespace krater::api
