// Users' kinds: a random structural schema and two random objects of it. What is accepted is
// served, and its objects keep the laws of api/machinery/testing/laws.h.
#include <cstdint>

#include "api/machinery/testing/laws.h"
#include "api/machinery/testing/random_definition.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace api = krater::api;
  api::testing::Choices choices({reinterpret_cast<const char*>(data), size});
  const krater::Json definition = api::testing::random_definition(choices);
  const krater::Json object = api::testing::random_thing(definition, choices);
  const krater::Json other = api::testing::random_thing(definition, choices);
  const std::string broken = api::testing::broken_definition_law(definition, object, other);
  CHECK_MSG(broken.empty(), broken);
  return 0;
}
