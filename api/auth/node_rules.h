// What a node may do: Kubernetes' node authorizer and NodeRestriction in one place. A node touches
// its own Node and Lease, the pods bound to it, and what those pods refer to; it reads what service
// routing and DNS need. Any thread.
#pragma once

#include <optional>
#include <string_view>

#include "api/auth/authorizer.h"
#include "api/auth/identity.h"
#include "api/auth/node_graph.h"
#include "api/auth/service_account_tokens.h"

namespace krater::api {

class NodeRules {
 public:
  NodeRules(ObjectLookup lookup, const NodeGraph& graph)
      : lookup_(std::move(lookup)), graph_(graph) {}
  Authorizer::Verdict decide(const NodeScope& scope, const Attributes& what) const;

 private:
  using Verdict = Authorizer::Verdict;
  Verdict on_node(const NodeScope& scope, const Attributes& what) const;
  Verdict on_pod(const NodeScope& scope, const Attributes& what) const;
  Verdict on_lease(const NodeScope& scope, const Attributes& what) const;
  Verdict on_referenced(const NodeScope& scope, const Attributes& what) const;
  Verdict on_volume(const NodeScope& scope, const Attributes& what) const;
  Verdict on_service_account(const NodeScope& scope, const Attributes& what) const;
  bool referenced(const NodeScope& scope, std::string_view resource, const Attributes& what) const;

  ObjectLookup lookup_;
  const NodeGraph& graph_;
};

// What only the body of a create shows: a node may create no other node, no other node's lease, no
// pod, and tokens only when bound to a pod that runs on it. Nothing when all is well.
std::optional<Error> check_node_create(const NodeScope& scope, const Attributes& what,
                                       const Json& body, const ObjectLookup& lookup);

}  // namespace krater::api
