// An expression as a tree. The parser makes it with macros already expanded into folds, the checker
// adds types, overloads and the places of variables; afterwards it never changes.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/cel/type.h"
#include "api/cel/value.h"

namespace krater::cel {

struct Expr;
struct Overload;
using ExprPtr = std::unique_ptr<Expr>;

// For each item of `range`, while `condition` holds: accu = step. Then `result`.
struct Fold {
  std::string var, var2;  // var2 "": one variable (the item of a list, the key of a map)
  std::string accu;
  ExprPtr range, init, condition, step, result;
};

struct Expr {
  enum class Kind : std::uint8_t { Literal, Ident, Select, Call, List, Map, Struct, Fold };

  Kind kind = Kind::Literal;
  bool test_only = false;     // Select: has()
  bool member = false;        // Call: args[0] is the receiver
  bool local = false;         // Ident: of a fold, at `slot` of its stack; otherwise variable `slot`
  int slot = -1;              // Ident; -1: a type's name
  std::uint32_t at = 0;       // bytes into the source, for messages
  int height = 1;             // of the tree below
  Value literal;              // Literal; Ident of a type: the type
  std::string name;           // Ident, the field of Select, the function of Call
  std::vector<ExprPtr> args;  // Select: operand. Map: key, value, key, value, …
  std::vector<bool> optional;  // List: per item; Map: per entry
  std::unique_ptr<cel::Fold> fold;

  // From the checker.
  TypePtr type;
  std::vector<const Overload*> overloads;
  // From folding constants (program.cc): the value, known before any evaluation.
  std::unique_ptr<const Value> constant;
  std::shared_ptr<const re2::RE2> pattern;  // of a literal regular expression
};

// The accumulator of macros; no source can name it.
inline constexpr const char* kAccumulator = "@result";

// What is wrong with the source, and where.
struct Issue {
  std::uint32_t at = 0;
  std::string message;
};

// All issues in order of place, each as
//   ERROR: <input>:1:5: undeclared reference to 'x' (in container '')
//    | 1 + x
//    | ....^
std::string render(const std::vector<Issue>& issues, std::string_view source);

}  // namespace krater::cel
