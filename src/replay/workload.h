// What a simulation is given: a cluster, and who asks for what, when. formats.h says what it is
// read from. Pure.
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
  std::vector<std::string> notes{};               // what was left out or taken for granted
};

struct NodeSize {
  std::string cpu = "8", memory = "32Gi";
};
struct TraceOptions {
  std::int64_t nodes = 10;
  std::string cpu = "8", memory = "32Gi";  // of each node
  std::string pod_cpu = "1";               // of pods of whom nothing tells what they ask for
  bool nodes_given = false;                // `nodes` was asked for: what traces tell does not count
};

// Objects in YAML, as read_files() of formats.h reads them; files are named "file 1" and so on.
Result<Workload> read_yaml(const std::vector<std::string>& files);
// One trace, in our own columns or as a table of Alibaba's tasks.
Result<Workload> read_trace(std::string_view csv, const TraceOptions& options);
// By time, then by name.
void sort_by_time(Workload& workload);

}  // namespace krater::replay
