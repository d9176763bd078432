// Expressions: whatever is accepted can be evaluated, twice with the same end, within its budget;
// nothing crashes, hangs or throws.
#include <cstdint>

#include "api/cel/program.h"
#include "base/check.h"

using krater::cel::Outcome;
using krater::cel::Program;
using krater::cel::Value;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto document = krater::parse_json(
      R"({"a":{"b":1,"l":[1,2,3],"s":"hello"},"m":{"x":[{"k":"v"}]},"t":true,"f":1.5,"n":null})");
  const auto program = Program::compile({reinterpret_cast<const char*>(data), size},
                                        {{"self", simple_type(krater::cel::TypeKind::Dyn)}});
  if (!program) return 0;
  constexpr std::uint64_t kLimit = 20'000;
  const Outcome first = (*program)->evaluate({Value::from_json(*document, nullptr)}, kLimit);
  const Outcome second = (*program)->evaluate({Value::from_json(*document, nullptr)}, kLimit);
  CHECK(first.cost == second.cost);
  CHECK(first.value.kind() == second.value.kind());
  return 0;
}
