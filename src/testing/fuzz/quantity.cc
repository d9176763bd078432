// Quantities: what is accepted has a canonical text that means the same.
#include "base/quantity.h"

#include <cstdint>

#include "base/check.h"
#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)krater::parse_rfc3339(text);
  (void)krater::parse_go_duration(text);
  const auto parsed = krater::Quantity::parse(text);
  if (!parsed) return 0;
  const std::string canonical = parsed->text();
  const auto again = krater::Quantity::parse(canonical);
  CHECK_MSG(again.has_value() && *again == *parsed && again->text() == canonical, canonical);
  return 0;
}
