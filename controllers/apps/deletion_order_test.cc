// Each case: two pods, the one that goes first named "first".
#include "controllers/apps/deletion_order.h"

#include <gtest/gtest.h>

namespace krater::controllers {
namespace {

const WallTime kNow = *parse_rfc3339("2026-01-01T01:00:00Z");

AppPod pod(std::string_view json) {
  Result<Json> parsed = parse_json(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  const std::string name = text_at(*parsed, {"metadata", "name"});
  set_path(*parsed, {"apiVersion"}, "v1");
  set_path(*parsed, {"kind"}, "Pod");
  set_path(*parsed, {"metadata", "uid"}, Json("uid-" + name));
  Result<ObjectPtr> object = Object::parse(ObjectKey::of(kinds::kPod, "d", name), Revision(1),
                                           std::make_shared<const std::string>(to_json(*parsed)));
  EXPECT_TRUE(object.has_value());
  return app_pod_of(*object);
}

std::string json_of(std::string_view name, std::string_view node, std::string_view phase,
                    std::string_view ready_since, std::string_view annotations = "{}",
                    int restarts = 0, std::string_view created = "2026-01-01T00:00:00Z") {
  std::string out = R"({"metadata":{"name":")" + std::string(name) + R"(","creationTimestamp":")" +
                    std::string(created) + R"(","annotations":)" + std::string(annotations) +
                    R"(},"spec":{"nodeName":")" + std::string(node) + R"("},"status":{"phase":")" +
                    std::string(phase) + R"(","containerStatuses":[{"name":"c","restartCount":)" +
                    std::to_string(restarts) + "}]";
  if (!ready_since.empty()) {
    out += R"(,"conditions":[{"type":"Ready","status":"True","lastTransitionTime":")" +
           std::string(ready_since) + R"("}])";
  }
  return out + "}}";
}

TEST(DeletionOrder, TheLossThatCostsLeastComesFirst) {
  constexpr std::string_view kEarly = "2026-01-01T00:00:10Z", kLate = "2026-01-01T00:59:50Z";
  const struct {
    std::string_view rule;
    std::string first, other;
  } cases[] = {
      {"without a node before with one", json_of("first", "", "Pending", ""),
       json_of("other", "n", "Pending", "")},
      {"pending before running", json_of("first", "n", "Pending", ""),
       json_of("other", "n", "Running", "")},
      {"not ready before ready", json_of("first", "n", "Running", ""),
       json_of("other", "n", "Running", kEarly)},
      {"cheap before dear",
       json_of("first", "n", "Running", kEarly,
               R"({"controller.kubernetes.io/pod-deletion-cost":"-5"})"),
       json_of("other", "n", "Running", kLate)},
      {"where siblings stand before where none stands", json_of("first", "full", "Running", kEarly),
       json_of("other", "n", "Running", kLate)},
      {"ready for a short time before ready for long", json_of("first", "n", "Running", kLate),
       json_of("other", "n", "Running", kEarly)},
      {"often restarted before never restarted", json_of("first", "n", "Running", kEarly, "{}", 3),
       json_of("other", "n", "Running", kEarly, "{}", 0)},
      {"new before old", json_of("first", "n", "Pending", "", "{}", 0, kLate),
       json_of("other", "n", "Pending", "", "{}", 0, kEarly)},
      {"of one age by uid", json_of("first", "n", "Pending", ""),
       json_of("other", "n", "Pending", "")},
  };
  const PodsByNode related{{"n", 1}, {"full", 4}};
  for (const auto& item : cases) {
    std::vector<AppPod> pods{pod(item.other), pod(item.first)};
    sort_for_deletion(pods, related, kNow);
    EXPECT_EQ(pods[0].name(), "first") << item.rule;
    sort_for_deletion(pods, related, kNow);
    EXPECT_EQ(pods[0].name(), "first") << item.rule;
  }
}

}  // namespace
}  // namespace krater::controllers
