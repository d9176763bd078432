// What of a job is in its pods.
#include "controllers/vcjob/pod_builder.h"

#include "controllers/vcjob/testing/job_test.h"

namespace krater::controllers::vcjob {
namespace {

using testing::VolcanoJobTest;

TEST_F(VolcanoJobTest, OneClaimIsMountedAtSeveralPlaces) {
  make(task("w", 1), 1,
       R"(,"volumes":[{"mountPath":"/a","volumeClaimName":"c"},)"
       R"({"mountPath":"/b","volumeClaimName":"c"},{"mountPath":"/d","volumeClaimName":"other"}])");
  admit();
  const auto document = pod("j-w-0")->document();
  const JsonArray& volumes = *array_at(*document, {"spec", "volumes"});
  ASSERT_EQ(volumes.size(), 2U);
  const Json& container = array_at(*document, {"spec", "containers"})->front();
  const JsonArray& mounts = *array_at(container, {"volumeMounts"});
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(text_at(mounts[0], {"name"}), text_at(volumes[0], {"name"}));
  EXPECT_EQ(text_at(mounts[1], {"name"}), text_at(volumes[0], {"name"}));
  EXPECT_EQ(text_at(mounts[1], {"mountPath"}), "/b");
  EXPECT_EQ(text_at(mounts[2], {"name"}), text_at(volumes[1], {"name"}));
}

}  // namespace
}  // namespace krater::controllers::vcjob
