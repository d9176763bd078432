// A policy with its expressions compiled.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/causes.h"
#include "api/cel/program.h"
#include "base/json.h"

namespace krater::api {

struct PolicyExpression {
  std::string name, text;
  cel::ProgramPtr program;  // nullptr: `problem` says why
  std::string problem;
};

struct PolicyValidation {
  PolicyExpression expression;
  PolicyExpression message_expression;  // text "" when there is none
  std::string message, reason;
};

struct CompiledPolicy {
  std::vector<PolicyExpression> conditions, variables;
  std::vector<PolicyValidation> validations;
  std::vector<PolicyExpression> audit_annotations;
  bool fail = true;  // failurePolicy
};

// Places of the values that every expression may read.
enum PolicySlot : std::size_t { kObject, kOldObject, kRequest, kParams, kNamespace, kVariables };
inline constexpr std::size_t kPolicySlots = 6;

std::shared_ptr<const CompiledPolicy> compile_policy(const Json& policy);

}  // namespace krater::api
