// YAML: parsed or refused, however deep it nests and whatever its aliases multiply to; what is
// parsed is written and read again as it was.
#include "base/yaml.h"

#include <cstdint>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = krater::parse_yaml({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  const std::string text = krater::to_yaml(*parsed);
  const auto again = krater::parse_yaml(text);
  CHECK_MSG(again.has_value() && krater::to_json(*again) == krater::to_json(*parsed),
            krater::to_json(*parsed) + "\n" + text);
  // What came by YAML is an object like any other.
  const auto json = krater::parse_json(krater::to_json(*parsed));
  CHECK_MSG(json.has_value() && krater::to_json(*json) == krater::to_json(*parsed),
            krater::to_json(*parsed));
  return 0;
}
