// The macros of the language: calls that become folds and presence tests while parsing.
#pragma once

#include <string>
#include <vector>

#include "api/cel/syntax.h"

namespace krater::cel {

ExprPtr make_literal(std::uint32_t at, Value value);
ExprPtr make_ident(std::uint32_t at, std::string name);
ExprPtr make_call(std::uint32_t at, std::string function, std::vector<ExprPtr> args, bool member);
// Sets the height of a node from its parts.
void measure(Expr& expr);

// What a call becomes; the call itself when it is no macro. `call` is a Call with its arguments.
ExprPtr expand_macro(ExprPtr call, std::vector<Issue>& issues);

}  // namespace krater::cel
