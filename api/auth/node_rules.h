// What a node may do: Kubernetes' node authorizer (what only the object of a write shows:
// node_restriction.h). A node touches its own Node and Lease, the pods bound to it, and what those
// pods refer to; it reads what service routing and DNS need. Any thread.
#pragma once

#include <string_view>

#include "api/auth/asking_node.h"
#include "api/auth/authorizer.h"
#include "api/auth/node_graph.h"
#include "api/auth/service_account_tokens.h"

namespace krater::api {

class NodeRules {
 public:
  NodeRules(ObjectLookup lookup, const NodeGraph& graph)
      : lookup_(std::move(lookup)), graph_(graph) {}
  Authorizer::Verdict decide(const AskingNode& scope, const Attributes& what) const;

 private:
  using Verdict = Authorizer::Verdict;
  Verdict on_node(const AskingNode& scope, const Attributes& what) const;
  Verdict on_pod(const AskingNode& scope, const Attributes& what) const;
  Verdict on_lease(const AskingNode& scope, const Attributes& what) const;
  Verdict on_referenced(const AskingNode& scope, const Attributes& what) const;
  Verdict on_volume(const AskingNode& scope, const Attributes& what) const;
  Verdict on_csi_node(const AskingNode& scope, const Attributes& what) const;
  Verdict on_service_account(const AskingNode& scope, const Attributes& what) const;
  bool referenced(const AskingNode& scope, std::string_view resource, const Attributes& what) const;

  ObjectLookup lookup_;
  const NodeGraph& graph_;
};

}  // namespace krater::api
