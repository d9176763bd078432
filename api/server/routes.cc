#include "api/server/routes.h"

#include <algorithm>
#include <array>

#include "api/server/handlers.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using namespace handlers;

constexpr std::string_view kAuthn = "authentication.k8s.io";
constexpr std::string_view kAuthz = "authorization.k8s.io";
constexpr std::string_view kCertificates = "certificates.k8s.io";

// The specific before the general: the first match answers.
constexpr std::array kEndpoints{
    Endpoint{"", "pods", "log", Verb::Get, pod_log},
    Endpoint{"", "pods", "binding", Verb::Create, bind_pod},
    Endpoint{"", "pods", "eviction", Verb::Create, evict},
    Endpoint{"", "pods", "ephemeralcontainers", Verb::Get, get},
    Endpoint{"", "pods", "ephemeralcontainers", Verb::Update, update},
    Endpoint{"", "pods", "ephemeralcontainers", Verb::Patch, patch},
    Endpoint{"", "namespaces", "finalize", Verb::Update, update},
    Endpoint{"", "serviceaccounts", "token", Verb::Create, create_token},
    Endpoint{kCertificates, "certificatesigningrequests", "approval", Verb::Get, get},
    Endpoint{kCertificates, "certificatesigningrequests", "approval", Verb::Update, update},
    Endpoint{kCertificates, "certificatesigningrequests", "approval", Verb::Patch, patch},
    Endpoint{"", "bindings", "", Verb::Create, bind},
    Endpoint{kAuthn, "selfsubjectreviews", "", Verb::Create, self_subject_review},
    Endpoint{kAuthn, "tokenreviews", "", Verb::Create, token_review},
    Endpoint{kAuthz, "selfsubjectaccessreviews", "", Verb::Create, self_subject_access_review},
    Endpoint{kAuthz, "selfsubjectrulesreviews", "", Verb::Create, self_subject_rules_review},
    Endpoint{kAuthz, "subjectaccessreviews", "", Verb::Create, subject_access_review},
    Endpoint{kAuthz, "localsubjectaccessreviews", "", Verb::Create, subject_access_review},
    Endpoint{kAnyResource, kAnyResource, "status", Verb::Get, get},
    Endpoint{kAnyResource, kAnyResource, "status", Verb::Update, update},
    Endpoint{kAnyResource, kAnyResource, "status", Verb::Patch, patch},
    Endpoint{kAnyResource, kAnyResource, "scale", Verb::Get, get_scale},
    Endpoint{kAnyResource, kAnyResource, "scale", Verb::Update, update_scale},
    Endpoint{kAnyResource, kAnyResource, "scale", Verb::Patch, patch_scale},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Get, get},
    Endpoint{kAnyResource, kAnyResource, "", Verb::List, list},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Watch, watch},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Create, create},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Update, update},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Patch, patch},
    Endpoint{kAnyResource, kAnyResource, "", Verb::Delete, remove},
    Endpoint{kAnyResource, kAnyResource, "", Verb::DeleteCollection, remove_collection},
};

constexpr std::array kSubresourceKinds{
    SubresourceKind{"", "pods", "log", "", "v1", "Pod"},
    SubresourceKind{"", "pods", "binding", "", "v1", "Binding"},
    SubresourceKind{"", "pods", "eviction", "policy", "v1", "Eviction"},
    SubresourceKind{"", "pods", "ephemeralcontainers", "", "v1", "Pod"},
    SubresourceKind{"", "namespaces", "finalize", "", "v1", "Namespace"},
    SubresourceKind{"", "serviceaccounts", "token", kAuthn, "v1", "TokenRequest"},
    SubresourceKind{kCertificates, "certificatesigningrequests", "approval", kCertificates, "v1",
                    "CertificateSigningRequest"},
    SubresourceKind{kAnyResource, kAnyResource, "status", "", "", ""},
    SubresourceKind{kAnyResource, kAnyResource, "scale", "autoscaling", "v1", "Scale"},
};

constexpr std::array kVirtualResources{
    VirtualResource{"", "v1", "bindings", "binding", "Binding", true},
    VirtualResource{kAuthn, "v1", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview",
                    false},
    VirtualResource{kAuthn, "v1", "tokenreviews", "tokenreview", "TokenReview", false},
    VirtualResource{kAuthz, "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview",
                    "SelfSubjectAccessReview", false},
    VirtualResource{kAuthz, "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview",
                    "SelfSubjectRulesReview", false},
    VirtualResource{kAuthz, "v1", "subjectaccessreviews", "subjectaccessreview",
                    "SubjectAccessReview", false},
    VirtualResource{kAuthz, "v1", "localsubjectaccessreviews", "localsubjectaccessreview",
                    "LocalSubjectAccessReview", true},
};

constexpr std::array kPathRoutes{
    PathRoute{"/", false, "GET", index},
    PathRoute{"/version", false, "GET", version},
    PathRoute{"/healthz", true, "GET", healthz},
    PathRoute{"/livez", true, "GET", livez},
    PathRoute{"/readyz", true, "GET", readyz},
    PathRoute{"/metrics", false, "GET", metrics},
    PathRoute{"/api", true, "GET", discovery_core},
    PathRoute{"/apis", true, "GET", discovery_groups},
    PathRoute{"/openapi/v2", false, "GET", openapi_v2},
    PathRoute{"/openapi/v3", true, "GET", openapi_v3},
    PathRoute{"/openid/v1/jwks", false, "GET", token_keys},
    PathRoute{"/.well-known/openid-configuration", false, "GET", token_issuer},
    PathRoute{"/krater/v1/ca", false, "GET", authority},
    PathRoute{"/krater/v1/join", false, "POST", join},
    PathRoute{"/krater/v1/tunnel", false, "GET", tunnel},
};

// Whether the endpoint is about this resource at all, whatever the verb.
bool about(const Endpoint& endpoint, const ResourcePath& path, const KindSchema* schema) {
  if (endpoint.subresource != path.subresource) return false;
  if (endpoint.resource != kAnyResource)
    return endpoint.resource == path.resource && endpoint.group == path.group;
  if (schema == nullptr) return false;
  if (path.subresource == "status") return schema->subresources().status;
  if (path.subresource == "scale") return schema->subresources().scale;
  return path.subresource.empty();
}

bool verb_listed(const KindSchema* schema, Verb verb) {
  const auto& verbs = schema->verbs();
  return std::find(verbs.begin(), verbs.end(), verb_name(verb)) != verbs.end();
}

bool answers(const Endpoint& endpoint, const KindSchema* schema) {
  return endpoint.resource != kAnyResource || !endpoint.subresource.empty() ||
         verb_listed(schema, endpoint.verb);
}

std::string_view method_of(Verb verb) {
  switch (verb) {
    case Verb::Get:
    case Verb::List:
    case Verb::Watch:
      return "GET";
    case Verb::Create:
      return "POST";
    case Verb::Update:
      return "PUT";
    case Verb::Patch:
      return "PATCH";
    case Verb::Delete:
    case Verb::DeleteCollection:
      return "DELETE";
  }
  return "";
}

bool needs_name(Verb verb) {
  return verb == Verb::Get || verb == Verb::Update || verb == Verb::Patch || verb == Verb::Delete;
}

}  // namespace

std::span<const Endpoint> endpoints() {
  return kEndpoints;
}
std::span<const SubresourceKind> subresource_kinds() {
  return kSubresourceKinds;
}
std::span<const VirtualResource> virtual_resources() {
  return kVirtualResources;
}
std::span<const PathRoute> path_routes() {
  return kPathRoutes;
}

Found find_endpoint(const ResourcePath& path, Verb verb, const KindSchema* schema) {
  Found out;
  for (const Endpoint& endpoint : kEndpoints) {
    if (!about(endpoint, path, schema)) continue;
    out.exists = true;
    if (endpoint.verb == verb && answers(endpoint, schema)) {
      out.handler = endpoint.handler;
      return out;
    }
  }
  return out;
}

std::string allowed_methods(const ResourcePath& path, const KindSchema* schema) {
  std::vector<std::string> out;
  for (const Endpoint& endpoint : kEndpoints) {
    if (!about(endpoint, path, schema) || !answers(endpoint, schema)) continue;
    const bool fits =
        path.subresource.empty() ? needs_name(endpoint.verb) != path.name.empty() : true;
    const std::string method(method_of(endpoint.verb));
    if (fits && std::find(out.begin(), out.end(), method) == out.end()) out.push_back(method);
  }
  return krater::join(out, ", ");
}

}  // namespace krater::api
