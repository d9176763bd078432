// What only the object shows of a node's write: Kubernetes' admission plugin NodeRestriction. It
// holds whatever roles a node has been given beside the node authorizer. Any thread.
#pragma once

#include "api/auth/asking_node.h"
#include "api/auth/authorizer.h"
#include "api/auth/service_account_tokens.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// A node may write no other node, nor other nodes' leases and CSINodes, no labels that steer
// workloads, no taints of its own; of pods only the status, without labels; of claims nothing.
// `old`: what is there; nullptr on create. Code::Forbidden with the reason alone: the registry adds
// of what.
Result<void> check_node_write(const AskingNode& scope, const Attributes& what, const Json& object,
                              const Json* old);

// Only pods that are bound to it, only its own lease.
Result<void> check_node_delete(const AskingNode& scope, const Attributes& what,
                               const ObjectLookup& lookup);

// Tokens only when bound to a pod that runs on it.
Result<void> check_node_token(const AskingNode& scope, const Attributes& what, const Json& request,
                              const ObjectLookup& lookup);

}  // namespace krater::api
