// What makes a CustomResourceDefinition acceptable, in kube-apiserver's words. Pure.
//
// The original keeps what all versions have in common once and names it so: with one version, or
// several that agree, a schema stands at spec.validation, subresources at spec.subresources.
#pragma once

#include <string>
#include <vector>

#include "api/machinery/field_errors.h"
#include "api/machinery/field_path.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// All that is wrong with a definition whose defaults are filled in. `old`: what is there, null on
// create.
std::vector<Cause> check_definition(const Json& definition, const Json* old);
// Of a write to its status.
std::vector<Cause> check_definition_status(const Json& definition);

// Names of a group that Kubernetes keeps for itself, and why one may use them: a value of
// "True"/"False", reason and message of the condition KubernetesAPIApprovalPolicyConformant.
struct Approval {
  enum class State { Invalid, Approved, Bypassed, Missing };
  State state = State::Missing;
  std::string reason;
};
bool is_protected_group(std::string_view group);
Approval approval_of(const Json& definition);

// Parts of check_definition().
// `schema` is an openAPIV3Schema at `path`.
void check_schema(const Json& schema, const FieldPath& path, bool has_status, FieldErrors& errors);
// False when something was found.
bool check_structural(const Json& schema, const FieldPath& path, FieldErrors& errors);
bool check_schema_defaults(const Json& schema, const FieldPath& path, FieldErrors& errors);
void check_selectable(const JsonArray& fields, const Json& schema, const FieldPath& path,
                      FieldErrors& errors);

}  // namespace krater::api
