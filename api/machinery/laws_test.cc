// The laws of testing/laws.h over many random objects of every kind. Fuzzers look further; what
// they find becomes a case of its own beside the code it was wrong in.
#include "api/machinery/testing/laws.h"

#include <gtest/gtest.h>

#include "api/machinery/testing/pipeline.h"
#include "api/machinery/testing/random_definition.h"
#include "api/machinery/testing/random_object.h"

namespace krater::api {
namespace {

using testing::Choices;

TEST(Laws, HoldForRandomObjectsOfEveryKind) {
  std::uint64_t seed = 0;
  for (const KindSchemaPtr& schema : testing::schemas().all()) {
    for (int i = 0; i < 30; ++i) {
      const std::string bytes = testing::random_bytes(++seed, 200 * (1 + i % 4));
      Choices choices(bytes);
      ASSERT_EQ(testing::broken_law(*schema, testing::random_object(*schema, choices)), "")
          << schema->kind().kind << " of seed " << seed;
    }
  }
}

TEST(Laws, OfApplyHoldForTwoManagersOfEveryKind) {
  std::uint64_t seed = 1'000'000;
  for (const KindSchemaPtr& schema : testing::schemas().all()) {
    for (int i = 0; i < 20; ++i) {
      const std::string bytes = testing::random_bytes(++seed, 150 * (1 + i % 4));
      Choices choices(bytes);
      const Json live = testing::random_object(*schema, choices);
      const Json one = testing::random_object(*schema, choices);
      const Json two = testing::random_object(*schema, choices);
      ASSERT_EQ(testing::broken_apply_law(*schema, live, one, two), "")
          << schema->kind().kind << " of seed " << seed;
    }
  }
}

TEST(Laws, HoldForRandomDefinitionsOfUsers) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string bytes = testing::random_bytes(seed, 100 + 10 * (seed % 60));
    Choices choices(bytes);
    const Json definition = testing::random_definition(choices);
    const Json object = testing::random_thing(definition, choices);
    const Json other = testing::random_thing(definition, choices);
    ASSERT_EQ(testing::broken_definition_law(definition, object, other), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace krater::api
