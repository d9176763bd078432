#include "api/auth/service_account_tokens.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "model/kinds.h"

namespace krater::api {
namespace {

constexpr std::int64_t kDefaultLifetime = 3600;
constexpr std::int64_t kShortest = 600;
constexpr std::int64_t kLongest = std::int64_t{1} << 32;
constexpr std::int64_t kInjectedLifetime =
    3607;  // what pod admission asks for; clients warn themselves at this age
constexpr auto kBoundGrace =
    60s;  // a bound object in deletion still vouches for its token this long

Error refused(std::string why) {
  return make_error(Code::Unauthorized, "invalid token: " + std::move(why));
}

std::vector<std::string> strings_at(const Json& value, JsonPath path) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(value, path)) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

JsonArray to_array(const std::vector<std::string>& words) {
  JsonArray out;
  for (const std::string& word : words) out.emplace_back(word);
  return out;
}

Error invalid_request(std::string field, std::string message) {
  Error error =
      make_error(Code::Invalid,
                 "TokenRequest.authentication.k8s.io \"\" is invalid: " + field + ": " + message);
  error.causes.push_back({"FieldValueInvalid", std::move(message), std::move(field)});
  return error;
}

// The object a token is bound to, as a claim: {"pod": {"name","uid"}, "node": {…}}.
Result<JsonObject> bound_claim(const Json& reference, std::string_view name_space,
                               const ObjectLookup& lookup) {
  const std::string kind = text_at(reference, {"kind"});
  const std::string name = text_at(reference, {"name"});
  const Kind* found = find_kind("v1", kind);
  if (found == nullptr || (kind != "Pod" && kind != "Secret" && kind != "Node")) {
    return invalid_request("spec.boundObjectRef.kind",
                           "Invalid value: \"" + kind + "\": must be Pod, Secret or Node");
  }
  TRY_ASSIGN(ObjectPtr object, lookup(*found, name_space, name));
  const std::string uid = text_at(reference, {"uid"});
  if (!uid.empty() && uid != object->uid().text()) {
    return make_error(Code::Conflict, "the UID in the bound object reference (" + uid +
                                          ") does not match the UID in record. The object might "
                                          "have been deleted and then recreated");
  }
  JsonObject claim{{to_lower(kind), JsonObject{{"name", name}, {"uid", object->uid().text()}}}};
  if (kind == "Pod") {
    const std::string node = text_at(*object->document(), {"spec", "nodeName"});
    const Result<ObjectPtr> host =
        node.empty() ? make_error(Code::NotFound, "") : lookup(kinds::kNode, "", node);
    if (host) claim["node"] = JsonObject{{"name", node}, {"uid", (*host)->uid().text()}};
  }
  return claim;
}

// Whether the object a token is bound to is still the one it was.
Result<void> check_bound(const Json& claims, std::string_view member, const Kind& kind,
                         std::string_view name_space, const ObjectLookup& lookup, WallTime now) {
  if (find(claims, {"kubernetes.io", member}) == nullptr) return {};
  const Result<ObjectPtr> object =
      lookup(kind, name_space, text_at(claims, {"kubernetes.io", member, "name"}));
  if (!object) return refused("the " + std::string(member) + " it is bound to is gone");
  if ((*object)->uid().text() != text_at(claims, {"kubernetes.io", member, "uid"})) {
    return refused("the " + std::string(member) + " it is bound to was replaced");
  }
  if ((*object)->deletion() && *(*object)->deletion() + kBoundGrace < now) {
    return refused("the " + std::string(member) + " it is bound to is being deleted");
  }
  return {};
}

bool intersects(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& x) {
    return std::find(b.begin(), b.end(), x) != b.end();
  });
}

Identity identity_of(const Json& claims, std::string_view name_space, std::string_view account) {
  Identity identity{std::string(kServiceAccountPrefix) + std::string(name_space) + ":" +
                    std::string(account)};
  identity.uid = text_at(claims, {"kubernetes.io", "serviceaccount", "uid"});
  identity.groups = {"system:serviceaccounts", "system:serviceaccounts:" + std::string(name_space),
                     std::string(kAuthenticatedGroup)};
  const std::string prefix = "authentication.kubernetes.io/";
  identity.extra[prefix + "credential-id"] = {"JTI=" + text_at(claims, {"jti"})};
  for (const std::string_view member : {"pod", "node"}) {
    const std::string name = text_at(claims, {"kubernetes.io", member, "name"});
    if (name.empty()) continue;
    identity.extra[prefix + std::string(member) + "-name"] = {name};
    identity.extra[prefix + std::string(member) + "-uid"] = {
        text_at(claims, {"kubernetes.io", member, "uid"})};
  }
  return identity;
}

}  // namespace

Result<IssuedToken> ServiceAccountTokens::issue(const Object& account, const Json& spec,
                                                const ObjectLookup& lookup) const {
  const std::int64_t lifetime = int_at(spec, {"expirationSeconds"}).value_or(kDefaultLifetime);
  if (lifetime < kShortest)
    return invalid_request("spec.expirationSeconds",
                           "Invalid value: " + std::to_string(lifetime) +
                               ": may not specify a duration less than 10 minutes");
  if (lifetime > kLongest)
    return invalid_request("spec.expirationSeconds",
                           "Invalid value: " + std::to_string(lifetime) +
                               ": may not specify a duration larger than 2^32 seconds");
  std::vector<std::string> audiences = strings_at(spec, {"audiences"});
  if (audiences.empty()) audiences.push_back(settings_.audience);

  JsonObject private_claims{
      {"namespace", account.name_space()},
      {"serviceaccount", JsonObject{{"name", account.name()}, {"uid", account.uid().text()}}}};
  const Json* reference = find(spec, {"boundObjectRef"});
  if (reference != nullptr && reference->is_object()) {
    TRY_ASSIGN(JsonObject bound, bound_claim(*reference, account.name_space(), lookup));
    for (const auto& member : bound) private_claims[member.key()] = member.value();
  }
  const WallTime now = clock_.now();
  if (lifetime == kInjectedLifetime)
    private_claims["warnafter"] = now.unix_seconds() + kInjectedLifetime;
  const WallTime expires = now + std::chrono::seconds(lifetime);
  const Json claims(JsonObject{
      {"iss", settings_.issuer},
      {"sub", std::string(kServiceAccountPrefix) + account.name_space() + ":" + account.name()},
      {"aud", to_array(audiences)},
      {"exp", expires.unix_seconds()},
      {"iat", now.unix_seconds()},
      {"nbf", now.unix_seconds()},
      {"jti", rng_.uuid()},
      {"kubernetes.io", std::move(private_claims)}});
  TRY_ASSIGN(std::string token, signer_->sign(claims));
  return IssuedToken{std::move(token), expires, lifetime, std::move(audiences)};
}

Result<Identity> ServiceAccountTokens::verify(std::string_view token,
                                              const std::vector<std::string>& audiences,
                                              const ObjectLookup& lookup) const {
  TRY_ASSIGN(Json claims, signer_->verify(token));
  const WallTime now = clock_.now();
  if (text_at(claims, {"iss"}) != settings_.issuer) return refused("another issuer");
  if (!intersects(strings_at(claims, {"aud"}),
                  audiences.empty() ? std::vector{settings_.audience} : audiences)) {
    return refused("meant for another audience");
  }
  if (int_at(claims, {"exp"}).value_or(0) <= now.unix_seconds()) return refused("expired");
  if (int_at(claims, {"nbf"}).value_or(0) > now.unix_seconds() + 60)
    return refused("not valid yet");

  const std::string name_space = text_at(claims, {"kubernetes.io", "namespace"});
  const std::string account = text_at(claims, {"kubernetes.io", "serviceaccount", "name"});
  const Result<ObjectPtr> object = lookup(kinds::kServiceAccount, name_space, account);
  if (!object) return refused("its service account is gone");
  if ((*object)->uid().text() != text_at(claims, {"kubernetes.io", "serviceaccount", "uid"})) {
    return refused("its service account was replaced");
  }
  TRY(check_bound(claims, "pod", kinds::kPod, name_space, lookup, now));
  TRY(check_bound(claims, "secret", kinds::kSecret, name_space, lookup, now));
  return identity_of(claims, name_space, account);
}

std::vector<std::string> ServiceAccountTokens::audiences_of(
    std::string_view token, const std::vector<std::string>& asked) const {
  const Result<Json> claims = signer_->verify(token);
  std::vector<std::string> out;
  if (!claims) return out;
  const std::vector<std::string> wanted = asked.empty() ? std::vector{settings_.audience} : asked;
  for (const std::string& audience : strings_at(*claims, {"aud"})) {
    if (std::find(wanted.begin(), wanted.end(), audience) != wanted.end()) out.push_back(audience);
  }
  return out;
}

}  // namespace krater::api
