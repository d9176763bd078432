// What the cache keeps of things that are neither pods, nodes, jobs nor queues: budgets, quotas,
// HyperNodes, NUMA topologies, namespaces, volumes, services.
#include "model/keys.h"
#include "model/queue_choice.h"
#include "scheduler/cache.h"
#include "scheduler/sharing.h"

namespace krater::scheduler {
namespace {

std::map<Surroundings::Place, ObjectPtr>& table_of(Surroundings& all, std::string_view kind) {
  if (kind == "PodDisruptionBudget") return all.budgets;
  if (kind == "ResourceQuota") return all.quotas;
  return kind == kHyperNodeKind.kind ? all.hyper_nodes : all.numa;
}

}  // namespace

void Cache::set_surrounding(const ObjectPtr& object) {
  ObjectPtr& known =
      table_of(edit(surroundings_), object->kind())[{object->name_space(), object->name()}];
  if (known != nullptr && known->revision() >= object->revision()) return;
  known = object;
  ++help_;
}

void Cache::remove_surrounding(const Kind& kind, const std::string& name_space,
                               const std::string& name) {
  if (table_of(edit(surroundings_), kind.kind).erase({name_space, name}) > 0) ++help_;
}

std::vector<std::pair<std::string, std::string>> Cache::surrounding_names(const Kind& kind) const {
  Surroundings all = *surroundings_;
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [place, object] : table_of(all, kind.kind)) out.push_back(place);
  return out;
}

QueueName Cache::queue_of_plain_pod(const PodView& pod) const {
  const auto preferred = preferred_queues_.find(pod->name_space());
  return queue_for(pod.annotation(keys::kQueueName),
                   preferred == preferred_queues_.end() ? std::string_view() : preferred->second,
                   options_.default_queue.text());
}

// Pods without a group follow their namespace.
void Cache::prefer_queue(const std::string& name_space, const std::string& queue) {
  const auto known = preferred_queues_.find(name_space);
  if (queue == (known == preferred_queues_.end() ? "" : known->second)) return;
  if (queue.empty()) {
    preferred_queues_.erase(known);
  } else {
    preferred_queues_[name_space] = queue;
  }
  std::vector<JobKey> plain;
  for (auto job = jobs_.lower_bound({name_space, ""});
       job != jobs_.end() && job->first.name_space == name_space; ++job) {
    if (job->first.of_one_pod() && !job->second->tasks.empty()) plain.push_back(job->first);
  }
  for (const JobKey& key : plain) {
    JobInfo& job = edit_job(key);
    job.queue = queue_of_plain_pod(PodView(job.tasks.front().spec->pod));
  }
  if (!plain.empty()) ++help_;
}

void Cache::set_namespace(const ObjectPtr& object) {
  prefer_queue(object->name(), std::string(ObjectView(object).annotation(keys::kQueueName)));
  const auto known = namespaces_->find(object->name());
  if (known != namespaces_->end() && known->second == object->labels()) return;
  edit(namespaces_)[object->name()] = object->labels();
  // Only who speaks of namespaces by their labels is concerned.
  if (!terms_.alive().empty()) ++help_;
}

void Cache::remove_namespace(const std::string& name) {
  prefer_queue(name, "");
  if (!namespaces_->contains(name)) return;
  edit(namespaces_).erase(name);
}

VolumeBook& Cache::edit_volumes() {
  // Never under a session's eyes.
  if (volumes_.use_count() > 1) volumes_ = std::make_shared<VolumeBook>(*volumes_);
  ++help_;
  return *volumes_;
}

SpreadDefaults& Cache::edit_spread_defaults() {
  if (spread_defaults_.use_count() > 1)
    spread_defaults_ = std::make_shared<SpreadDefaults>(*spread_defaults_);
  return *spread_defaults_;
}

}  // namespace krater::scheduler
