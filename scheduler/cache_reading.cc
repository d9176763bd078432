// What others read of the cache: the picture a session works on, and single things.
#include "scheduler/cache.h"

namespace krater::scheduler {

std::vector<JobPtr> Cache::rest_of(const std::set<JobKey>& known) const {
  std::vector<JobPtr> out;
  auto next = known.begin();
  for (const auto& [key, job] : jobs_) {
    while (next != known.end() && *next < key) ++next;
    if (next == known.end() || *next != key) out.push_back(job);
  }
  return out;
}

Snapshot Cache::snapshot(Scope scope) {
  settle();
  Snapshot out;
  out.nodes.resize(nodes_.size());
  for (const NodeSlot slot : order_) out.nodes[slot] = nodes_[slot];
  out.order = order_;
  out.rank = rank_;
  out.rank.resize(nodes_.size());
  if (scope == Scope::All) {
    for (const auto& [key, job] : jobs_) out.jobs.push_back(job);
  } else {
    std::set<JobKey> wanted = changed_jobs_;
    wanted.insert(open_jobs_.begin(), open_jobs_.end());
    for (const JobKey& key : wanted) {
      if (const auto known = jobs_.find(key); known != jobs_.end())
        out.jobs.push_back(known->second);
    }
    out.rest = [this, wanted = std::move(wanted)] { return rest_of(wanted); };
  }
  const auto& sums = job_ledger_.queues();
  for (const auto& [name, queue] : queues_) {
    out.queues.push_back(queue);
    const auto known = sums.find(name);
    out.sums.push_back(known == sums.end() ? QueueSums() : known->second);
  }
  out.placed = [this] { return placed_pods(); };
  out.queue_of = [this](const JobKey& key) {
    const JobInfo* known = job(key);
    return known == nullptr ? QueueName() : known->queue;
  };
  if (fairshare_.rules() != nullptr) out.fairshare = &fairshare_;
  out.terms = terms_.alive();
  out.namespaces = namespaces_;
  out.volumes = volumes_;
  out.spread_defaults = spread_defaults_;
  out.surroundings = surroundings_;
  out.total = node_ledger_.allocatable();
  out.used = node_ledger_.used();
  out.admitted = job_ledger_.admitted();
  out.names = names_;
  out.help = help_;
  return out;
}

bool Cache::knows_pod(const Object& pod) const {
  const auto known = pods_.find(Place(pod.name_space(), pod.name()));
  return known != pods_.end() && known->second.spec->pod->uid() == pod.uid();
}

TaskSpecPtr Cache::pending_task(const Object& pod) const {
  const auto known = pods_.find(Place(pod.name_space(), pod.name()));
  if (known == pods_.end() || known->second.status != TaskStatus::Pending ||
      known->second.spec->pod->uid() != pod.uid()) {
    return nullptr;
  }
  return known->second.spec;
}

bool Cache::assumed(const TaskSpec& task) const {
  const auto known = pods_.find(Place(task.name_space(), task.name()));
  return known != pods_.end() && known->second.status == TaskStatus::Binding &&
         known->second.spec->pod->uid() == task.pod->uid();
}

bool Cache::leaving(const TaskSpec& task) const {
  const auto known = pods_.find(Place(task.name_space(), task.name()));
  return known != pods_.end() && known->second.status == TaskStatus::Releasing &&
         known->second.spec->pod->uid() == task.pod->uid();
}

const JobInfo* Cache::job(const JobKey& key) const {
  const auto known = jobs_.find(key);
  return known == jobs_.end() ? nullptr : known->second.get();
}

const QueueInfo* Cache::queue(const QueueName& name) const {
  const auto known = queues_.find(name);
  return known == queues_.end() ? nullptr : known->second.get();
}

std::vector<std::pair<std::string, std::string>> Cache::pod_names() const {
  std::vector<Place> out;
  for (const auto& [place, record] : pods_) out.push_back(place);
  return out;
}

std::vector<std::string> Cache::node_names() const {
  std::vector<std::string> out;
  for (const auto& [name, slot] : slots_) {
    if (nodes_[slot]->spec != nullptr) out.push_back(name);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> Cache::group_names() const {
  std::vector<Place> out;
  for (const auto& [key, job] : jobs_) {
    if (job->group != nullptr) out.emplace_back(key.name_space, key.name);
  }
  return out;
}

std::vector<std::string> Cache::queue_names() const {
  std::vector<std::string> out;
  for (const auto& [name, queue] : queues_) out.push_back(name.text());
  return out;
}

std::vector<std::string> Cache::priority_class_names() const {
  std::vector<std::string> out;
  for (const auto& [name, info] : priority_classes_) out.push_back(name);
  return out;
}

std::vector<std::string> Cache::namespace_names() const {
  std::vector<std::string> out;
  for (const auto& [name, labels] : *namespaces_) out.push_back(name);
  return out;
}

}  // namespace krater::scheduler
