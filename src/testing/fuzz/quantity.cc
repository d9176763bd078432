// Quantities: what is accepted has a canonical text that means the same, and arithmetic agrees with
// order. Two amounts, apart by a blank. Times and durations likewise.
#include "base/quantity.h"

#include <cstdint>

#include "base/check.h"
#include "base/time.h"

namespace {

using krater::Quantity;

void check_text(const Quantity& amount) {
  const std::string canonical = amount.text();
  const auto again = Quantity::parse(canonical);
  CHECK_MSG(again.has_value() && *again == amount, canonical);
  // A sum may have lost the suffix that said what it counts in (1Ei + 24); read once, it is
  // settled.
  const auto settled = Quantity::parse(again->text());
  CHECK_MSG(settled.has_value() && settled->text() == again->text(), canonical);
}

void check_arithmetic(const Quantity& a, const Quantity& b) {
  CHECK(a + b == b + a);
  CHECK((a - b).sign() * (b - a).sign() <= 0);
  if (a < b) CHECK(a.value() <= b.value() && a.milli_value() <= b.milli_value());
  check_text(a + b);
  check_text(a - b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = krater::parse_rfc3339(text)) {
    const auto again = krater::parse_rfc3339(krater::to_rfc3339_micro(*time));
    CHECK(again.has_value() && krater::to_rfc3339_micro(*again) == krater::to_rfc3339_micro(*time));
  }
  (void)krater::parse_go_duration(text);
  const std::size_t blank = std::min(text.find(' '), text.size());
  const auto one = Quantity::parse(text.substr(0, blank));
  if (!one) return 0;
  check_text(*one);
  const auto two = Quantity::parse(text.substr(std::min(blank + 1, text.size())));
  if (two) check_arithmetic(*one, *two);
  return 0;
}
