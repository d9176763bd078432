// Any bytes: parsed or refused, never a crash; what is parsed survives a round trip.
#include "base/json.h"

#include <cstdint>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> duplicates;
  krater::JsonParseOptions options;
  options.duplicates = &duplicates;
  const auto parsed = krater::parse_json({reinterpret_cast<const char*>(data), size}, options);
  if (!parsed) return 0;
  const std::string text = krater::to_json(*parsed);
  const auto again = krater::parse_json(text);
  CHECK_MSG(again.has_value() && krater::to_json(*again) == text, text);
  return 0;
}
