// Random objects by our own schemas: the first byte chooses the kind, the others what is in it. The
// laws of api/machinery/testing/laws.h hold.
#include <cstdint>

#include "api/machinery/testing/laws.h"
#include "api/machinery/testing/random_object.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace api = krater::api;
  static const std::unique_ptr<api::SchemaSet> schemas = api::make_builtin_schemas();
  static const std::vector<api::KindSchemaPtr> kinds = schemas->all();
  api::testing::Choices choices({reinterpret_cast<const char*>(data), size});
  const api::KindSchema& schema = *choices.any_of(kinds);
  const std::string broken =
      api::testing::broken_law(schema, api::testing::random_object(schema, choices));
  CHECK_MSG(broken.empty(), schema.kind().kind + ": " + broken);
  return 0;
}
