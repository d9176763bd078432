// Types of a tree: resolves names and overloads, refuses what cannot work, and marks variables and
// literal patterns for the evaluator.
#pragma once

#include <string>
#include <vector>

#include "api/cel/syntax.h"

namespace krater::cel {

struct Variable {
  std::string name;
  TypePtr type;
};

// The type of the whole; adds to `issues` what is wrong.
TypePtr check(Expr& root, const std::vector<Variable>& variables, std::vector<Issue>& issues);

}  // namespace krater::cel
