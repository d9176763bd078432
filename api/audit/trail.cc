#include "api/audit/trail.h"

#include <utility>

namespace krater::api::audit {
namespace {

Json texts(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

Json to_json_value(const Identity& who) {
  JsonObject out;
  if (!who.user.empty()) out["username"] = who.user;
  if (!who.uid.empty()) out["uid"] = who.uid;
  if (!who.groups.empty()) out["groups"] = texts(who.groups);
  if (!who.extra.empty()) {
    JsonObject extra;
    for (const auto& [key, values] : who.extra) extra[key] = texts(values);
    out["extra"] = std::move(extra);
  }
  return out;
}

void strip(Json& object) {
  if (find(object, {"metadata", "managedFields"}) != nullptr)
    erase_path(object, {"metadata", "managedFields"});
}

}  // namespace

void Trail::without_managed_fields(Json& object) const {
  if (!decision_.omit_managed_fields || !object.is_object()) return;
  strip(object);
  if (Json* items = find(object, {"items"}); items != nullptr && items->is_array()) {
    for (Json& item : items->get_array()) strip(item);
  }
}

void Trail::request_object(Json object) {
  Attributes& what = facts_.what;
  if (what.name.empty()) what.name = text_at(object, {"metadata", "name"});
  if (!wants_request()) return;
  without_managed_fields(object);
  request_ = std::move(object);
}

void Trail::response_object(Json object) {
  if (text_at(object, {"kind"}) == "Status" && text_at(object, {"apiVersion"}) == "v1") {
    for (const std::string_view key : {"status", "message", "reason", "details"}) {
      if (const Json* value = find(object, {key})) status_[key] = *value;
    }
  }
  if (!wants_response()) return;
  without_managed_fields(object);
  response_ = std::move(object);
}

void Trail::panicked(const std::string& what) {
  status_ = {{"status", "Failure"},
             {"message", "APIServer panic'd: " + what},
             {"reason", "InternalError"}};
  tell(Stage::Panic, 500);
}

void Trail::unauthenticated(std::string why) {
  status_["message"] = std::move(why);
  tell(Stage::ResponseStarted, 401);
}

void Trail::tell(Stage stage, int code) {
  if (decision_.level == Level::None || decision_.omit_stages.has(stage)) return;
  log_->write(decision_.level, to_json(event(stage, code)));
}

Json Trail::object_reference() const {
  const Attributes& what = facts_.what;
  JsonObject out;
  const auto add = [&out](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  add("resource", what.resource);
  add("namespace", what.name_space);
  add("name", what.name);
  add("uid", text_at(request_, {"metadata", "uid"}));
  add("apiGroup", what.group);
  add("apiVersion", what.version);
  add("resourceVersion", text_at(request_, {"metadata", "resourceVersion"}));
  add("subresource", what.subresource);
  return out;
}

Json Trail::event(Stage stage, int code) const {
  JsonObject out;
  out["kind"] = "Event";
  out["apiVersion"] = "audit.k8s.io/v1";
  out["level"] = level_name(decision_.level);
  out["auditID"] = facts_.audit_id;
  out["stage"] = stage_name(stage);
  out["requestURI"] = facts_.uri;
  out["verb"] = facts_.what.verb;
  out["user"] = to_json_value(facts_.user);
  const bool early = stage == Stage::RequestReceived;
  if (impersonated_ && !early) out["impersonatedUser"] = to_json_value(*impersonated_);
  if (!facts_.source_ips.empty()) out["sourceIPs"] = texts(facts_.source_ips);
  if (!facts_.user_agent.empty()) out["userAgent"] = facts_.user_agent;
  if (!facts_.what.resource.empty()) out["objectRef"] = object_reference();
  if (!early) {
    JsonObject status{{"metadata", JsonObject()}};
    for (const auto& member : status_) status[member.key()] = member.value();
    status["code"] = code;
    out["responseStatus"] = std::move(status);
    if (!request_.is_null()) out["requestObject"] = request_;
    if (!response_.is_null()) out["responseObject"] = response_;
  }
  out["requestReceivedTimestamp"] = to_rfc3339_micro(received_);
  out["stageTimestamp"] = to_rfc3339_micro(clock_.now());
  if (!annotations_.empty() && !early) out["annotations"] = annotations_;
  return out;
}

}  // namespace krater::api::audit
