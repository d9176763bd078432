// Label selectors in the query grammar: the canonical text of what is accepted is accepted and
// matches alike.
#include "model/selector.h"

#include <cstdint>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = krater::LabelSelector::parse({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  const auto again = krater::LabelSelector::parse(parsed->text());
  CHECK_MSG(again.has_value(), parsed->text());
  const krater::Labels labels{{"a", "b"}, {"app", "web"}, {"n", "5"}};
  CHECK_MSG(parsed->matches(labels) == again->matches(labels), parsed->text());
  return 0;
}
