// May this identity do that? An interface. The built-in policy is what a cluster needs before it
// has RBAC objects; RBAC (api/auth/rbac) adds what roles and bindings grant. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/auth/identity.h"
#include "api/auth/node_graph.h"
#include "api/auth/service_account_tokens.h"
#include "base/result.h"

namespace krater::api {

struct Attributes {
  std::string verb;  // get list watch create update patch delete deletecollection; for paths the
                     // lower-case method
  // Of a resource request; `resource` is empty for any other path.
  std::string group{}, version{}, resource{}, subresource{}, name_space{}, name{};
  std::string path{};  // of a non-resource request
  // What the fieldSelector of a list or watch pins spec.nodeName to.
  std::string pinned_node{};
};

// rbac/v1 PolicyRule.
struct PolicyRule {
  std::vector<std::string> verbs{}, api_groups{}, resources{}, resource_names{}, paths{};
  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  struct Verdict {
    bool allowed = false;
    std::string reason{};
  };
  virtual Verdict decide(const Identity& who, const Attributes& what) const = 0;
  // What somebody may do in a namespace as far as it can be listed ("" : at the cluster scope).
  virtual std::vector<PolicyRule> rules(const Identity& who, std::string_view name_space) const = 0;
};

// Code::Forbidden with Kubernetes' words:
//   pods "p" is forbidden: User "x" cannot get resource "pods" in API group "" in the namespace
//   "default": <reason>
Error refusal(const Identity& who, const Attributes& what, const std::string& reason);

// system:masters may do everything. Nodes may do what their own node and the pods bound to it need
// (see NodeRules). Everybody authenticated may read discovery, versions and health and ask about
// himself; anybody may read version and health.
std::unique_ptr<Authorizer> make_built_in_authorizer(ObjectLookup lookup, const NodeGraph& graph);

}  // namespace krater::api
