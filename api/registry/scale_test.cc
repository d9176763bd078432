// The scale subresource over a real registry.
#include "api/registry/scale.h"

#include <gtest/gtest.h>

#include "api/registry/testing/harness.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::text_of;

constexpr std::string_view kDeployment =
    R"({"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";

struct ScaleTest : ::testing::Test {
  Harness h;
  void SetUp() override {
    const Result<Answer> made = h.create(kinds::kDeployment, kDeployment);
    ASSERT_TRUE(made.has_value()) << text_of(made);
  }
  Json scale() {
    const KindSchemaPtr schema = h.schemas().find_resource("deployments.apps");
    return *scale_of(*schema, **h.registry().get(kinds::kDeployment, "default", "web"));
  }
  std::optional<std::int64_t> replicas() {
    return int_at(h.read(kinds::kDeployment, "web"), {"spec", "replicas"});
  }
};

TEST_F(ScaleTest, ShowsSizeAndSelector) {
  const Json shown = scale();
  EXPECT_EQ(text_at(shown, {"kind"}), "Scale");
  EXPECT_EQ(text_at(shown, {"apiVersion"}), "autoscaling/v1");
  EXPECT_EQ(int_at(shown, {"spec", "replicas"}), 3);
  EXPECT_EQ(int_at(shown, {"status", "replicas"}), 0);
  EXPECT_EQ(text_at(shown, {"status", "selector"}), "app=a");
  EXPECT_EQ(text_at(shown, {"metadata", "name"}), "web");
}

TEST_F(ScaleTest, WritesChangeTheObjectAndItsGeneration) {
  Json body = scale();
  set_path(body, {"spec", "replicas"}, 5);
  ASSERT_TRUE(h.update(kinds::kDeployment, "web", body, "scale").has_value());
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(int_at(h.read(kinds::kDeployment, "web"), {"metadata", "generation"}), 2);
  // The revision it knew is gone.
  const Result<Answer> late = h.update(kinds::kDeployment, "web", body, "scale");
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::Conflict);
  ASSERT_TRUE(
      h.merge(kinds::kDeployment, "web", R"({"spec":{"replicas":0}})", "scale").has_value());
  EXPECT_EQ(replicas(), 0);
}

TEST_F(ScaleTest, RefusesWhatIsNoSize) {
  const struct {
    std::string_view patch, message;
  } cases[] = {
      {R"({"spec":{"replicas":-1}})",
       "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater "
       "than or equal to 0"},
      {R"({"spec":{"replicas":"many"}})",
       "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal string into "
       "Go struct field ScaleSpec.spec.replicas of type int32"},
      {R"({"metadata":{"name":"other"}})",
       "the name of the object (other) does not match the name on the URL (web)"},
  };
  for (const auto& item : cases)
    EXPECT_EQ(text_of(h.merge(kinds::kDeployment, "web", item.patch, "scale")), item.message);
  EXPECT_EQ(replicas(), 3);
}

TEST_F(ScaleTest, IsOfKindsThatHaveASize) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, R"({"metadata":{"name":"m"}})").has_value());
  const Result<Answer> answer =
      h.merge(kinds::kConfigMap, "m", R"({"spec":{"replicas":1}})", "scale");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::NotFound);
}

}  // namespace
}  // namespace krater::api
