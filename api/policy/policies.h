// ValidatingAdmissionPolicies: what users forbid (or want warnings about) in expressions, asked of
// every write that a binding selects, the control plane's own included. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"
#include "api/machinery/schema.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// One write, after everything else has approved of it.
struct PolicyRequest {
  Operation operation = Operation::Create;
  const Kind& kind;
  std::string name_space, name, subresource;
  const Json* object = nullptr;  // nullptr on delete
  const Json* old = nullptr;     // nullptr on create
  std::string user;
  std::vector<std::string> groups;
  bool dry_run = false;
};

// Keeps compiled policies, by object and revision.
class PolicyJudge {
 public:
  virtual ~PolicyJudge() = default;
  // The first denial, as Kubernetes words it; warnings are added.
  virtual Result<void> ask(const PolicyRequest& request, const ObjectReader& reader,
                           const SchemaSet& schemas, std::vector<std::string>& warnings) = 0;
};
std::unique_ptr<PolicyJudge> make_policy_judge();

struct CompiledPolicy;
// Whether all conditions of `policy` hold for the write; false where one is false, whatever became
// of the others. One that fails is an Error under failurePolicy Fail, and no match under Ignore.
Result<bool> conditions_hold(const CompiledPolicy& policy, const PolicyRequest& request);

// What is wrong with a policy or a binding itself.
Causes check_policy(const Json& policy);
Causes check_policy_binding(const Json& binding);

}  // namespace krater::api
