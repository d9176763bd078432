#include "replay/workload.h"

#include <algorithm>

#include "base/quantity.h"
#include "model/keys.h"

namespace krater::replay {

Submission make_job(const JobShape& shape) {
  const std::string name_space = "default";
  Submission out{name_space + "/" + shape.name, shape.queue, shape.at, shape.min};
  out.pods_wait = true;
  Json group = new_object(kinds::kPodGroup, name_space, shape.name);
  set_path(group, {"spec", "minMember"}, Json(shape.min));
  set_path(group, {"spec", "queue"}, Json(shape.queue));
  if (shape.priority != 0)
    set_path(group, {"spec", "priorityClassName"}, Json("p" + std::to_string(shape.priority)));
  JsonObject requests, least;
  for (const auto& [resource, text] : shape.requests) {
    requests[resource] = text;
    const Result<Quantity> each = Quantity::parse(text);
    if (!each) continue;
    Quantity sum;
    for (std::int64_t i = 0; i < shape.min; ++i) sum += *each;
    least[resource] = sum.text();
  }
  set_path(group, {"spec", "minResources"}, std::move(least));
  out.group = std::move(group);
  Json pod = new_object(kinds::kPod, name_space, "");
  set_path(pod, {"metadata", "annotations", keys::kGroupName}, Json(shape.name));
  set_path(pod, {"spec", "schedulerName"}, Json(keys::kVolcanoScheduler));
  JsonObject container{{"name", "main"}};
  container["resources"] = JsonObject{{"requests", std::move(requests)}};
  set_path(pod, {"spec", "containers"}, JsonArray{std::move(container)});
  for (std::int64_t i = 0; i < shape.pods; ++i) {
    set_path(pod, {"metadata", "name"}, Json(shape.name + "-w-" + std::to_string(i)));
    out.pods.push_back({pod, shape.run});
  }
  return out;
}

void sort_by_time(Workload& workload) {
  std::sort(workload.submissions.begin(), workload.submissions.end(),
            [](const Submission& a, const Submission& b) {
              return a.at != b.at ? a.at < b.at : a.name < b.name;
            });
}

}  // namespace krater::replay
