// What a simulation is given: a cluster, and who asks for what, when. Read from a directory of YAML
// (workload_yaml.cc) or from a trace (workload_trace.cc). Pure but for the files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/object.h"

namespace krater::replay {

struct PodPlan {
  Json pod;
  std::optional<Duration> run{};  // absent: until the end
};

// One job: its pods come and go together.
struct Submission {
  std::string name;  // "default/train"
  std::string queue;
  Duration at{};
  std::int64_t min = 1;         // so many pods make it a start
  std::optional<Json> group{};  // its PodGroup
  bool pods_wait = false;       // pods are made when the group has been admitted
  std::vector<PodPlan> pods{};
};

struct Workload {
  std::vector<std::pair<Kind, Json>> cluster{};   // there from the beginning
  std::vector<Submission> submissions{};          // by time, then by name
  std::map<std::string, std::int64_t> ignored{};  // kinds that nobody plays, how often
};

struct TraceOptions {
  std::int64_t nodes = 10;
  std::string cpu = "8", memory = "32Gi";  // of each node
};

// Every *.yaml and *.yml in it, in order of their names; lists are taken apart.
// Kinds: Node, Queue, PriorityClass, ConfigMap, PodDisruptionBudget, ResourceQuota, HyperNode; Pod,
// PodGroup, Job (batch and Volcano).
// When: annotation krater.io/sim-submit-at ("90s"), else by creationTimestamp, else at once.
// How long: annotation krater.io/sim-run-time of the pod.
Result<Workload> read_directory(const std::string& path);
Result<Workload> read_yaml(const std::vector<std::string>& files);
// CSV. With a line of names: submit, run (seconds), cpu, and as you like job, queue, pods, min,
// memory, priority, and any resource by its name. Without one: Alibaba's batch_task of 2018.
Result<Workload> read_trace(std::string_view csv, const TraceOptions& options);

// A job of equal pods, as both make them: PodGroup and pods in namespace default.
struct JobShape {
  std::string name, queue = "default";
  Duration at{}, run{};
  std::int64_t pods = 1, min = 1, priority = 0;
  std::map<std::string, std::string> requests{};
};
Submission make_job(const JobShape& shape);
void sort_by_time(Workload& workload);

}  // namespace krater::replay
