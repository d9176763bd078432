// The functions of the language: what each takes and gives, what it costs, and the code behind it.
// One table (library.cc); the checker resolves against the signatures, the code looks at the values
// it gets, because arguments may be dynamic.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/cel/type.h"
#include "api/cel/value.h"

namespace krater::cel {

// How Kubernetes prices a call, while running and in estimates (cost.cc).
enum class Cost : std::uint8_t {
  One,
  Logical,
  Conditional,
  Equality,
  Order,  // of strings and bytes
  AddText,
  AddList,
  InList,
  StartsWith,
  Matches,
  Contains,
  TextToBytes,
  BytesToText,
  Format,
  IndexList,
  IndexMap,
  // Of the Kubernetes libraries: priced by the function's name, whatever the overload.
  EachItem,  // isSorted, sum, min, max, indexOf, lastIndexOf
  Parse,     // one pass over the first argument
  ParseTwice,
  SameText,  // lowerAscii, trim, substring, …: one pass, the result no longer than the text
  Url,
  Replace,
  Split,
  Join,
  Find,
  ContainsIp,
  ContainsIpText,
  ContainsCidr,
  ContainsCidrText,
  Validate,
  Nominal,  // 1
  // Of the list and set extensions.
  Sets,       // every item of one list with every item of the other
  SetsBoth,   // the same, both ways
  ListSlice,  // a new list of the result's size
  ListCopy,   // one pass and a new list
  ListSort,   // all pairs twice and a new list
  ListRange,
};

struct Overload {
  std::vector<TypePtr> args;  // of a member: the receiver first
  TypePtr result;
  bool member = false;
  int variables = 0;  // type parameters 0..n-1 in args and result
  Cost cost = Cost::One;
};

using Args = std::span<const Value>;
using Implementation = Value (*)(Args args);

struct Function {
  std::string name;
  Implementation call = nullptr;  // nullptr: the evaluator itself does it (&&, ?:, indexing)
  std::vector<Overload> overloads;
};

const Function* find_function(std::string_view name);

// The types that have a name in expressions: int, list, kubernetes.Quantity, …; nullptr otherwise.
TypePtr find_type(std::string_view name);

Value no_such_overload();
// Where a result would be larger than any budget pays for.
Value too_expensive();
inline constexpr std::size_t kMostItems = std::size_t{1} << 20;
inline constexpr std::size_t kMostBytes = std::size_t{16} << 20;
inline constexpr std::string_view kCostExceeded = "operation cancelled: actual cost limit exceeded";

}  // namespace krater::cel
