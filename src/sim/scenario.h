// A simulation as data: what is given, what is asked of it, what goes wrong meanwhile, what must
// hold always and in the end. Read from YAML (testdata/); unknown words are errors.
//
//   seed: 4242
//   given:   {nodes: 20, cpu: 8, memory: 16Gi, queues: [prod, batch]}
//   load:    [{submit_rayjobs: {every: 2s, for: 60s, queue: batch, workers: 2, run_time: 10s}}]
//   faults:  [{kill_nodes: {every: 7s, down: 60s}}, {slow_store: {chance: 0.1, by: 2s}}]
//   always:  [no_node_overcommitted]
//   finally: [every_job_finished]
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace krater::sim {

struct Load {
  enum class What { RayJobs, Jobs, VolcanoJobs, Pods };
  What what = What::RayJobs;
  Duration every = std::chrono::seconds(1), during = std::chrono::seconds(10);
  std::string queue;         // "": none is named
  std::int64_t workers = 2;  // of a RayJob; pods of a Job or a Volcano Job
  std::string cpu = "1";     // of each pod
  Duration run_time = std::chrono::seconds(10);
  std::int64_t backoff_limit = 0;  // of a Volcano Job: maxRetry
};

struct Fault {
  enum class What {
    KillNodes,
    RestartAgents,
    RestartServer,
    SlowStore,
    FailingCommits,
    AmbiguousAnswers,
    DropWatch
  };
  What what = What::KillNodes;
  Duration every{}, down = std::chrono::seconds(5);  // of what happens from time to time
  bool forever = false;      // KillNodes: after `down` the node is deleted, not booted
  unsigned in_thousand = 0;  // of what happens by chance
  Duration by = std::chrono::milliseconds(100);  // SlowStore: at most
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  std::int64_t nodes = 4, cpu = 8;
  std::string memory = "16Gi";
  std::vector<std::string> queues;
  unsigned failing_rayjobs_in_thousand = 0;
  std::vector<Load> load;
  std::vector<Fault> faults;
  // From the first submission; everything is well afterwards.
  Duration faults_for = std::chrono::seconds(60);
  // How long the world may then take for `finally` to come true.
  Duration settle_within = std::chrono::minutes(15);
  bool delete_everything = false;  // when it has: the user deletes what he made
  std::set<std::string> always, finally;

  Duration load_for() const;
};

Result<Scenario> parse_scenario(std::string name, std::string_view yaml);

}  // namespace krater::sim
