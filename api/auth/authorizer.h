// May this identity do that? An interface: the built-in policy below is what a cluster needs
// without RBAC objects. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  struct Verdict {
    bool allowed = false;
    std::string reason{};
  };
  virtual Verdict decide(const Identity& who, const Attributes& what) const = 0;
};

// Code::Forbidden with Kubernetes' words:
//   pods "p" is forbidden: User "x" cannot get resource "pods" in API group "" in the namespace
//   "default": <reason>
Error refusal(const Identity& who, const Attributes& what, const std::string& reason);

// system:masters may do everything. Nodes may do what their own node and the pods bound to it need
// (see NodeRules). Everybody authenticated may read discovery, versions and health and ask about
// himself; anybody may read version and
std::unique_ptr<Authorizer> make_built_in_authorizer(ObjectLookup lookup, const NodeGraph& graph);

}  // namespace krater::api
