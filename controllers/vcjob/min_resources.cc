#include "controllers/vcjob/min_resources.h"

#include <algorithm>

#include "model/pod_resources.h"

namespace krater::controllers::vcjob {
namespace {

struct Usage {
  std::int64_t pods = 0;
  ResourceList requests{}, limits{};
};

// The larger of the steady state and the worst moment of the init phase, as for requests.
ResourceList limits_of(const Json& spec) {
  ResourceList steady, worst, sidecars;
  const auto of = [](const Json& holder) {
    return ResourceList::from(find(holder, {"resources", "limits"}));
  };
  if (const JsonArray* inits = array_at(spec, {"initContainers"})) {
    for (const Json& container : *inits) {
      ResourceList moment = of(container);
      moment += sidecars;
      if (text_at(container, {"restartPolicy"}) == "Always") sidecars += of(container);
      worst.raise_to(moment);
    }
  }
  if (const JsonArray* containers = array_at(spec, {"containers"})) {
    for (const Json& container : *containers) steady += of(container);
  }
  steady += sidecars;
  return steady.raise_to(worst);
}

Usage usage_of(const VolcanoTask& task) {
  Usage out{1};
  const Json* spec = task.pod_template == nullptr ? nullptr : find(*task.pod_template, {"spec"});
  if (spec == nullptr) return out;
  out.requests = pod_spec_requests(*spec);
  out.limits = limits_of(*spec);
  return out;
}

void add(Usage& sum, const Usage& one, std::int64_t times) {
  if (times <= 0) return;
  sum.pods += one.pods * times;
  sum.requests += one.requests.times(times);
  sum.limits += one.limits.times(times);
}

bool has_limit_quota(std::string_view name) {
  return name == resources::kCpu || name == resources::kMemory ||
         name == resources::kEphemeralStorage;
}

Json to_json(const Usage& usage) {
  JsonObject out;
  out["count/pods"] = std::to_string(usage.pods);
  for (const auto& [name, amount] : usage.requests.amounts())
    out[name] = resource_text(name, amount);
  for (const auto& [name, amount] : usage.limits.amounts()) {
    if (has_limit_quota(name)) out["limits." + name] = resource_text(name, amount);
  }
  out["pods"] = std::to_string(usage.pods);
  for (const auto& [name, amount] : usage.requests.amounts())
    out["requests." + name] = resource_text(name, amount);
  return out;
}

std::vector<const VolcanoTask*> by_priority(const Observed& seen) {
  std::vector<std::pair<std::int64_t, const VolcanoTask*>> ranked;
  for (const VolcanoTask& task : seen.tasks) {
    std::string name;
    if (task.pod_template != nullptr)
      name = text_at(*task.pod_template, {"spec", "priorityClassName"});
    ranked.emplace_back(name.empty() ? 0 : seen.priority(name), &task);
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const VolcanoTask*> out;
  for (const auto& [priority, task] : ranked) out.push_back(task);
  return out;
}

}  // namespace

Json min_resources(const Observed& seen) {
  const std::vector<const VolcanoTask*> tasks = by_priority(seen);
  std::int64_t left = seen.job.min_available(), minimum = 0;
  for (const VolcanoTask* task : tasks) minimum += task->min_available.value_or(task->replicas);
  Usage out;
  const bool first_pods = left < minimum;
  for (const VolcanoTask* task : tasks) {
    const std::int64_t most = first_pods ? task->replicas : task->min_available.value_or(0);
    const std::int64_t pods = std::min(left, most);
    add(out, usage_of(*task), pods);
    left -= pods;
  }
  // More than the tasks' own minima: the rest comes from what they have beyond them.
  for (const VolcanoTask* task : tasks) {
    if (first_pods) break;
    const std::int64_t pods = std::min(left, task->replicas - task->min_available.value_or(0));
    add(out, usage_of(*task), pods);
    left -= std::max<std::int64_t>(pods, 0);
  }
  return to_json(out);
}

}  // namespace krater::controllers::vcjob
