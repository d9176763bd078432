#include "api/auth/authorizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/auth/node_rules.h"

namespace krater::api {
namespace {

bool reads(std::string_view verb) {
  return verb == "get" || verb == "head";
}

// A path itself, or anything below it.
bool at_or_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool public_path(std::string_view path) {
  // The authority's certificate is what a joining agent compares with the hash in its token.
  constexpr std::array<std::string_view, 5> kPublic{"/healthz", "/livez", "/readyz", "/version",
                                                    "/krater/v1/ca"};
  return std::any_of(kPublic.begin(), kPublic.end(),
                     [path](std::string_view root) { return at_or_below(path, root); });
}

bool discovery_path(std::string_view path) {
  constexpr std::array<std::string_view, 5> kDiscovery{"/api", "/apis", "/openapi", "/openid",
                                                       "/.well-known"};
  return path == "/" ||
         std::any_of(kDiscovery.begin(), kDiscovery.end(),
                     [path](std::string_view root) { return at_or_below(path, root); });
}

// Kubernetes' role system:basic-user.
bool asks_about_himself(const Attributes& what) {
  if (what.verb != "create") return false;
  if (what.group == "authorization.k8s.io")
    return what.resource == "selfsubjectaccessreviews" ||
           what.resource == "selfsubjectrulesreviews";
  return what.group == "authentication.k8s.io" && what.resource == "selfsubjectreviews";
}

class BuiltInAuthorizer final : public Authorizer {
 public:
  BuiltInAuthorizer(ObjectLookup lookup, const NodeGraph& graph)
      : nodes_(std::move(lookup), graph) {}

  std::vector<PolicyRule> rules(const Identity& who, std::string_view) const override {
    if (who.in(kMastersGroup)) return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    if (who.anonymous()) return {};
    return {{{"create"},
             {"authorization.k8s.io"},
             {"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
             {},
             {}},
            {{"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"}, {}, {}},
            {{"get"},
             {},
             {},
             {},
             {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*",
              "/readyz", "/version", "/version/"}}};
  }

  Verdict decide(const Identity& who, const Attributes& what) const override {
    if (who.in(kMastersGroup)) return {true};
    if (what.resource.empty()) return {may_use_path(who, what)};
    if (!who.anonymous() && asks_about_himself(what)) return {true};
    const AskingNode scope(who);
    return scope ? nodes_.decide(scope, what) : Verdict{};
  }

 private:
  static bool may_use_path(const Identity& who, const Attributes& what) {
    if (reads(what.verb) && public_path(what.path)) return true;
    if (who.anonymous()) return false;
    if (reads(what.verb) && discovery_path(what.path)) return true;
    if (what.path == "/krater/v1/join") return what.verb == "post" && who.in(kBootstrappersGroup);
    return what.path == "/krater/v1/tunnel" && what.verb == "get" && NodeScope(who);
  }

  NodeRules nodes_;
};

}  // namespace

Error refusal(const Identity& who, const Attributes& what, const std::string& reason) {
  const std::string why = reason.empty() ? "" : ": " + reason;
  if (what.resource.empty()) {
    return make_error(Code::Forbidden, "forbidden: User \"" + who.user + "\" cannot " + what.verb +
                                           " path \"" + what.path + "\"" + why);
  }
  const std::string resource = what.resource + (what.group.empty() ? "" : "." + what.group);
  const std::string full = what.resource + (what.subresource.empty() ? "" : "/" + what.subresource);
  const std::string where = what.name_space.empty()
                                ? "at the cluster scope"
                                : "in the namespace \"" + what.name_space + "\"";
  return make_error(Code::Forbidden, resource +
                                         (what.name.empty() ? "" : " \"" + what.name + "\"") +
                                         " is forbidden: User \"" + who.user + "\" cannot " +
                                         what.verb + " resource \"" + full + "\" in API group \"" +
                                         what.group + "\" " + where + why);
}

std::unique_ptr<Authorizer> make_built_in_authorizer(ObjectLookup lookup, const NodeGraph& graph) {
  return std::make_unique<BuiltInAuthorizer>(std::move(lookup), graph);
}

}  // namespace krater::api
