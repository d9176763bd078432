// What one pass over a Volcano Job decides on: the job and what belongs to it, as cached.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/vcjob/pod_fact.h"
#include "controllers/vcjob/status.h"
#include "model/pod_overhead.h"
#include "model/podgroup.h"

namespace krater::controllers::vcjob {

// As the ssh plugin mounts it: a private key in PEM and the line of its public key.
struct SshKey {
  std::string private_pem, public_line;
};

struct Observed {
  VolcanoJobView job;
  std::vector<VolcanoTask> tasks;
  std::vector<LifecyclePolicy> policies;  // of the job
  Status status;                          // as it is: with what is known and not stored yet
  Status stored;
  std::optional<WallTime> counts_since;  // how long counts have been waiting to be told
  std::vector<PodFact> pods;             // those it controls
  PodGroupView group;                    // none: empty
  bool queue_exists = false;
  bool creation_failed = false;   // of a child, in the pass before this one
  bool forwards = false;          // its queue hands jobs on to other clusters
  std::optional<SshKey> ssh_key;  // one made for this job
  // Objects of its namespace; null when there is none.
  std::function<ObjectPtr(const Kind&, const std::string& name)> child;
  // Whether the API has the kind.
  std::function<bool(const Kind&)> served;
  // Of a PriorityClass; nullopt when it does not exist.
  std::function<std::optional<std::int64_t>(const std::string& name)> priority;
  RuntimeClasses runtime_class;

  const VolcanoTask* task(std::string_view name) const {
    for (const VolcanoTask& one : tasks) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }
  // A pod that has no place in the job any more.
  bool surplus(const PodFact& pod) const {
    const VolcanoTask* mine = task(pod.task);
    return mine == nullptr || pod.index < 0 || pod.index >= mine->replicas;
  }
  bool owns(const Object& object) const {
    const OwnerReference* owner = owning_volcano_job(object);
    return owner != nullptr && owner->uid == job->uid();
  }
};

}  // namespace krater::controllers::vcjob
