#include "controllers/podgroup/size.h"

#include <algorithm>

#include "base/strings.h"
#include "model/pod.h"

namespace krater::controllers::podgroup {
namespace {

constexpr std::string_view kMinMember = "scheduling.volcano.sh/group-min-member";

std::int64_t annotated(const Labels& annotations) {
  const auto text = annotations.find(kMinMember);
  if (text == annotations.end()) return 1;
  const auto number = parse_int(text->second);
  return number && *number >= 0 && *number <= INT32_MAX ? *number : 1;
}

bool lives(const ObjectPtr& object) {
  const PodView pod(object);
  return !pod.deleting() && !pod.finished();
}

// How many pods it wants to have at once, now.
std::int64_t asked_for(const Object& workload, const std::vector<ObjectPtr>& pods) {
  const auto document = workload.document();
  const Json& all = *document;
  const std::string& kind = workload.kind();
  if (kind == "Job") {
    return std::min(int_at(all, {"spec", "parallelism"}).value_or(INT32_MAX),
                    int_at(all, {"spec", "completions"}).value_or(INT32_MAX));
  }
  if (kind == "DaemonSet") {
    const auto nodes = int_at(all, {"status", "desiredNumberScheduled"}).value_or(0);
    return nodes > 0 ? nodes : INT32_MAX;  // not counted yet
  }
  const std::int64_t replicas = int_at(all, {"spec", "replicas"}).value_or(1);
  if (kind != "StatefulSet" || text_at(all, {"spec", "podManagementPolicy"}) == "Parallel")
    return replicas;
  // The next one is made when those before it are ready.
  return std::min<std::int64_t>(replicas, std::count_if(pods.begin(), pods.end(), lives));
}

}  // namespace

bool names_size(const Labels& annotations) {
  return annotations.contains(kMinMember);
}

std::int64_t group_size(const Object& workload, const std::vector<ObjectPtr>& pods) {
  const std::int64_t wanted =
      annotated(string_map(find(*workload.document(), {"metadata", "annotations"})));
  return std::min(wanted, std::max<std::int64_t>(asked_for(workload, pods), 1));
}

std::int64_t next_size(std::int64_t now, std::int64_t wanted, const std::vector<ObjectPtr>& pods) {
  if (wanted <= now) return wanted;
  const std::int64_t placed = std::count_if(pods.begin(), pods.end(), [](const ObjectPtr& pod) {
    return lives(pod) && !PodView(pod).node_name().empty();
  });
  return placed == 0 ? wanted : std::max(now, std::min(wanted, placed));
}

}  // namespace krater::controllers::podgroup
