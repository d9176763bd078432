#include "api/registry/hook_request.h"

#include "api/policy/match.h"

namespace krater::api {
namespace {

Json kind_json(const Kind& kind) {
  return JsonObject{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

Json resource_json(const Kind& kind) {
  return JsonObject{{"group", kind.group}, {"version", kind.version}, {"resource", kind.plural}};
}

Json user_json(const RequestInfo& info) {
  JsonObject out{{"username", info.user}};
  if (!info.uid.empty()) out["uid"] = info.uid;
  JsonArray groups;
  for (const std::string& group : info.groups) groups.emplace_back(group);
  if (!groups.empty()) out["groups"] = std::move(groups);
  JsonObject extra;
  for (const auto& [key, values] : info.extra) {
    JsonArray list;
    for (const std::string& value : values) list.emplace_back(value);
    extra[key] = std::move(list);
  }
  if (!extra.empty()) out["extra"] = std::move(extra);
  return out;
}

Json options_json(const HookSubject& subject, const RequestInfo& info) {
  std::string_view kind = "UpdateOptions";
  if (subject.operation == Operation::Create) kind = "CreateOptions";
  if (subject.operation == Operation::Delete) kind = "DeleteOptions";
  JsonObject out{{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}};
  if (info.options.is_object() && subject.options.is_null()) {
    // A patch that creates has the options of a create.
    const std::string given = text_at(info.options, {"kind"});
    if (given == "PatchOptions" && subject.operation == Operation::Update) out["kind"] = given;
    for (const auto& member : info.options.get_object()) {
      if (member.key() != "kind" && member.key() != "apiVersion")
        out[member.key()] = member.value();
    }
  } else if (subject.options.is_object()) {
    for (const auto& member : subject.options.get_object()) out[member.key()] = member.value();
  } else if (!info.field_manager.empty()) {
    out["fieldManager"] = info.field_manager;
  }
  if (info.dry_run) out["dryRun"] = JsonArray{"All"};
  return out;
}

// Who owns which field is between the writers and this server.
Json sent(const Json* object, const HookSubject& subject, const Kind& kind) {
  if (object == nullptr) return nullptr;
  Json out = without_managers(*object);
  if (kind != subject.resource && subject.shown == subject.resource)
    set_path(out, {"apiVersion"}, Json(kind.api_version()));
  return out;
}

}  // namespace

std::string hook_request(const HookSubject& subject, const Kind& kind, const Json* object,
                         const Json* old, const RequestInfo& info) {
  Kind shown = subject.shown;
  if (kind != subject.resource && shown == subject.resource) shown = kind;
  JsonObject out{{"kind", kind_json(shown)}, {"resource", resource_json(kind)}};
  if (!subject.subresource.empty()) out["subResource"] = subject.subresource;
  out["requestKind"] = kind_json(subject.shown);
  out["requestResource"] = resource_json(subject.resource);
  if (!subject.subresource.empty()) out["requestSubResource"] = subject.subresource;
  if (!subject.name.empty()) out["name"] = subject.name;
  if (!subject.name_space.empty()) out["namespace"] = subject.name_space;
  out["operation"] = name_of(subject.operation);
  out["userInfo"] = user_json(info);
  out["object"] = sent(object, subject, kind);
  out["oldObject"] = sent(old, subject, kind);
  out["dryRun"] = info.dry_run;
  out["options"] = options_json(subject, info);
  return to_json(out);
}

}  // namespace krater::api
