// A compiled expression: parsed, checked, constants folded. Immutable; any thread may evaluate it.
//
//   const auto program = Program::compile("self.replicas <= 5", {{"self", type}});
//   if (!program) …                          // error().message: "ERROR: <input>:1:6: undefined
//   field …" const Outcome out = (*program)->evaluate({Value::from_json(document, type.get())}); if
//   (out.value.is_error()) …              // out.value.text(): "no such key: a" out.value.is(true);
//   out.cost;
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cel/checker.h"
#include "api/cel/value.h"
#include "base/result.h"

namespace krater::cel {

// Limits of Kubernetes (k8s.io/apiserver/pkg/apis/cel).
inline constexpr std::uint64_t kCallCostLimit = 1'000'000;
inline constexpr std::int64_t kRequestCostBudget = 10'000'000;
inline constexpr std::int64_t kMatchConditionsCostBudget = 2'500'000;

struct Outcome {
  Value value;
  std::uint64_t cost = 0;
};

class Program {
 public:
  // Code::BadRequest with all issues, as rendered by render().
  static Result<std::shared_ptr<const Program>> compile(std::string_view source,
                                                        std::vector<Variable> variables);

  // `bound`: one value a variable, in their order; nullopt: not there (using it is an error). Never
  // fails or throws: a failure is Value::Kind::Error. Past the limit: kCostExceeded.
  Outcome evaluate(const std::vector<std::optional<Value>>& bound,
                   std::uint64_t cost_limit = kCallCostLimit) const;

  const TypePtr& type() const { return root_->type; }
  // Whether the expression reads the variable.
  bool uses(std::string_view variable) const;
  // Worst cost of an evaluation; UINT64_MAX when nothing bounds it. Sizes come from the types of
  // the variables.
  std::uint64_t estimated_cost() const { return estimated_cost_; }

 private:
  Program() = default;

  std::vector<Variable> variables_;
  std::unique_ptr<const Expr> root_;
  std::vector<bool> used_;
  std::uint64_t estimated_cost_ = 0;
};
using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace krater::cel
