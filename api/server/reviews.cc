// Questions about identity and permission, and TokenRequest: answered with 201, never stored.
#include <algorithm>
#include <array>

#include "api/auth/node_restriction.h"
#include "api/auth/rbac/policy_rule.h"
#include "api/registry/status.h"
#include "api/server/body.h"
#include "api/server/handlers.h"
#include "model/kinds.h"

namespace krater::api::handlers {
namespace {

constexpr std::string_view kAuthn = "authentication.k8s.io/v1";
constexpr std::string_view kAuthz = "authorization.k8s.io/v1";

Json review(std::string_view api_version, std::string_view kind, const Json& body,
            JsonObject status) {
  JsonObject out{{"kind", kind},
                 {"apiVersion", api_version},
                 {"metadata", JsonObject{{"creationTimestamp", nullptr}}}};
  if (const Json* spec = find(body, {"spec"})) out["spec"] = *spec;
  out["status"] = std::move(status);
  return out;
}

// What a spec's resourceAttributes or nonResourceAttributes ask about.
Attributes attributes_of(const Json& spec) {
  Attributes out;
  if (const Json* resource = find(spec, {"resourceAttributes"});
      resource != nullptr && resource->is_object()) {
    out.verb = text_at(*resource, {"verb"});
    out.group = text_at(*resource, {"group"});
    out.version = text_at(*resource, {"version"});
    out.resource = text_at(*resource, {"resource"});
    out.subresource = text_at(*resource, {"subresource"});
    out.name_space = text_at(*resource, {"namespace"});
    out.name = text_at(*resource, {"name"});
    return out;
  }
  out.verb = text_at(spec, {"nonResourceAttributes", "verb"});
  out.path = text_at(spec, {"nonResourceAttributes", "path"});
  return out;
}

JsonObject access_status(const Authorizer& authorizer, const Identity& who, const Json& spec) {
  const Attributes what = attributes_of(spec);
  const Authorizer::Verdict verdict = authorizer.decide(who, what);
  JsonObject out{{"allowed", verdict.allowed}};
  if (!verdict.reason.empty()) out["reason"] = verdict.reason;
  return out;
}

// Exactly one of the two.
std::optional<Error> check_access_spec(const Json& spec, std::string_view kind) {
  const bool resource = object_at(spec, {"resourceAttributes"}) != nullptr;
  const bool path = object_at(spec, {"nonResourceAttributes"}) != nullptr;
  if (resource != path) return std::nullopt;
  const Kind named{"authorization.k8s.io", "v1", std::string(kind), "", false};
  return invalid(named, "",
                 {{"FieldValueInvalid",
                   "Invalid value: exactly one of nonResourceAttributes or resourceAttributes must "
                   "be specified",
                   "spec.resourceAttributes"}});
}

Identity identity_in(const Json& spec) {
  Identity who{text_at(spec, {"user"})};
  who.uid = text_at(spec, {"uid"});
  if (const JsonArray* groups = array_at(spec, {"groups"})) {
    for (const Json& group : *groups) {
      if (group.is_string()) who.groups.emplace_back(view(group.get_string()));
    }
  }
  return who;
}

std::vector<std::string> strings_of(const JsonArray* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    if (item.is_string()) out.emplace_back(view(item.get_string()));
  }
  return out;
}

JsonArray words(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& word : list) out.emplace_back(word);
  return out;
}

}  // namespace

Answering create_token(Deps& deps, Exchange& x) {
  Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), kAuthn, "TokenRequest");
  if (!body) co_return respond_error(body.error());
  const Result<ObjectPtr> account =
      deps.registry.get(kinds::kServiceAccount, x.path.name_space, x.path.name);
  if (!account) co_return respond_error(account.error());
  if (const AskingNode scope(x.who); scope) {
    const Result<void> allowed = check_node_token(scope, x.what, body->object, deps.lookup());
    if (!allowed) co_return respond_error(allowed.error());
  }
  const Json* asked = find(body->object, {"spec"});
  Json spec = asked != nullptr && asked->is_object() ? *asked : Json(JsonObject{});
  const Result<IssuedToken> issued = deps.tokens.issue(**account, spec, deps.lookup());
  if (!issued) co_return respond_error(issued.error());
  set_path(spec, {"audiences"}, Json(words(issued->audiences)));
  set_path(spec, {"expirationSeconds"}, Json(issued->lifetime_seconds));
  Json answer =
      review(kAuthn, "TokenRequest", JsonObject{{"spec", spec}},
             {{"token", issued->token}, {"expirationTimestamp", to_rfc3339(issued->expires)}});
  set_path(answer, {"metadata", "name"}, Json(x.path.name));
  set_path(answer, {"metadata", "namespace"}, Json(x.path.name_space));
  co_return respond_json(201, answer);
}

Answering self_subject_review(Deps& deps, Exchange& x) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), kAuthn, "SelfSubjectReview");
  if (!body) co_return respond_error(body.error());
  co_return respond_json(
      201, review(kAuthn, "SelfSubjectReview", JsonObject{}, {{"userInfo", user_info(x.who)}}));
}

Answering token_review(Deps& deps, Exchange& x) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), kAuthn, "TokenReview");
  if (!body) co_return respond_error(body.error());
  const std::string token = text_at(body->object, {"spec", "token"});
  const std::vector<std::string> audiences =
      strings_of(array_at(body->object, {"spec", "audiences"}));
  const Result<Identity> who = deps.authenticator.authenticate_token(token, audiences);
  JsonObject status{{"authenticated", who.has_value()}};
  if (who) {
    status["user"] = user_info(*who);
    status["audiences"] = words(deps.tokens.audiences_of(token, audiences));
  } else {
    status["error"] = who.error().message;
  }
  co_return respond_json(201, review(kAuthn, "TokenReview", body->object, std::move(status)));
}

Answering self_subject_access_review(Deps& deps, Exchange& x) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), kAuthz, "SelfSubjectAccessReview");
  if (!body) co_return respond_error(body.error());
  const Json* spec = find(body->object, {"spec"});
  const Json none(JsonObject{});
  if (const auto wrong =
          check_access_spec(spec == nullptr ? none : *spec, "SelfSubjectAccessReview"))
    co_return respond_error(*wrong);
  co_return respond_json(201, review(kAuthz, "SelfSubjectAccessReview", body->object,
                                     access_status(deps.authorizer, x.who, *spec)));
}

Answering subject_access_review(Deps& deps, Exchange& x) {
  const std::string_view kind = x.path.resource == "subjectaccessreviews"
                                    ? "SubjectAccessReview"
                                    : "LocalSubjectAccessReview";
  Result<DecodedBody> body = decode_message(x.request, deps.registry.schemas(), kAuthz, kind);
  if (!body) co_return respond_error(body.error());
  const Json* spec = find(body->object, {"spec"});
  const Json none(JsonObject{});
  if (const auto wrong = check_access_spec(spec == nullptr ? none : *spec, kind))
    co_return respond_error(*wrong);
  if (kind == "LocalSubjectAccessReview" &&
      text_at(*spec, {"resourceAttributes", "namespace"}) != x.path.name_space) {
    co_return respond_error(
        bad_request("spec.resourceAttributes.namespace must match the namespace of the request"));
  }
  co_return respond_json(201, review(kAuthz, kind, body->object,
                                     access_status(deps.authorizer, identity_in(*spec), *spec)));
}

Answering self_subject_rules_review(Deps& deps, Exchange& x) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), kAuthz, "SelfSubjectRulesReview");
  if (!body) co_return respond_error(body.error());
  JsonArray resource_rules;
  JsonArray path_rules;
  const std::string name_space = text_at(body->object, {"spec", "namespace"});
  for (const PolicyRule& rule : deps.authorizer.rules(x.who, name_space))
    (rule.paths.empty() ? resource_rules : path_rules).push_back(to_json_value(rule));
  // A node's rules depend on what runs on it and cannot be listed.
  const bool incomplete = static_cast<bool>(NodeScope(x.who));
  co_return respond_json(201, review(kAuthz, "SelfSubjectRulesReview", body->object,
                                     {{"resourceRules", std::move(resource_rules)},
                                      {"nonResourceRules", std::move(path_rules)},
                                      {"incomplete", incomplete}}));
}

}  // namespace krater::api::handlers
