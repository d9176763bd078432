#include "scheduler/cache.h"

#include "base/check.h"
#include "base/log.h"
#include "model/keys.h"
#include "scheduler/sharing.h"
#include "scheduler/words.h"

namespace krater::scheduler {
namespace {

bool on_a_node(TaskStatus status, NodeSlot node) {
  return node != kNoNode && uses_node(status);
}

// Whoever names neither Volcano nor a queue or group is given a node like all others, but holds it
// outside of the queues: it counts against none of them, and none takes it back.
bool outside_queues(const PodView& pod) {
  return pod.scheduler_name() == "default-scheduler" && pod.annotation(keys::kQueueName).empty() &&
         pod.annotation(keys::kGroupName).empty();
}

}  // namespace

bool Cache::ours(const PodView& pod) const {
  return options_.scheduler_names.contains(pod.scheduler_name());
}

JobInfo& Cache::edit_job(const JobKey& key) {
  JobInfo& job = touch_job(key);
  job.version = ++versions_;
  return job;
}

JobInfo& Cache::touch_job(const JobKey& key) {
  JobPtr& job = jobs_[key];
  if (job == nullptr) {
    auto fresh = std::make_shared<JobInfo>();
    fresh->key = key;
    job = std::move(fresh);
  }
  changed_jobs_.insert(key);
  unsettled_jobs_.insert(key);
  return edit(job);
}

NodeInfo& Cache::edit_node(NodeSlot slot) {
  unsettled_nodes_.insert(slot);
  return edit(nodes_[slot]);
}

NodeSlot Cache::slot_of(const std::string& node) {
  const auto known = slots_.find(node);
  if (known != slots_.end()) return known->second;
  NodeSlot slot = static_cast<NodeSlot>(nodes_.size());
  if (free_slots_.empty()) {
    nodes_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  auto fresh = std::make_shared<NodeInfo>();
  fresh->name = node;
  nodes_[slot] = std::move(fresh);
  slots_.emplace(node, slot);
  return slot;
}

void Cache::release_slot(NodeSlot slot) {
  const NodeInfo& node = *nodes_[slot];
  if (node.spec != nullptr || node.tasks > 0) return;
  slots_.erase(node.name);
  nodes_[slot].reset();
  free_slots_.push_back(slot);
}

void Cache::drop_job_if_empty(const JobKey& key) {
  const auto place = jobs_.find(key);
  if (place == jobs_.end() || place->second->group != nullptr || !place->second->tasks.empty())
    return;
  jobs_.erase(place);
}

bool Cache::awaits_group(const PodView& pod) const {
  return options_.grouped_schedulers.contains(pod.scheduler_name()) &&
         task_status(pod) == TaskStatus::Pending;
}

void Cache::start_plain_job(const PodView& pod, JobInfo& job) const {
  job.known = !awaits_group(pod);
  job.queue = queue_of_plain_pod(pod);
  job.min_member = 1;
  job.phase = PodGroupPhase::Inqueue;  // without a group there is nothing to admit
  job.created = pod->created().value_or(WallTime());
  job.priority = pod.priority().value_or(0);
}

// Who waits for the company of others is helped when somebody comes.
void Cache::count_company(const PodRecord& record, int by) {
  if (record.in_job && record.status == TaskStatus::Pending && record.spec->terms != nullptr &&
      record.spec->terms->helped_by_company())
    wants_company_ += by;
}

void Cache::note_company() {
  if (wants_company_ > 0) ++help_;
}

// What a pod asks and says is looked at for others too: whom they avoid, who may be evicted, what
// its queue wants. What we note on a pod with its bind is no news, and that a pod joins its group
// concerns the group alone.
void Cache::note_change(const PodRecord& before, const PodRecord& next) {
  const TaskSpec &a = *before.spec, &b = *next.spec;
  const bool holds_node = on_a_node(before.status, before.node);
  if (a.pod->uid() != b.pod->uid()) {
    if (holds_node) ++help_;
    return;
  }
  const bool reworded = before.status == TaskStatus::Binding ? a.pod->labels() != b.pod->labels()
                                                             : before.words != next.words;
  if (!reworded && a.shape == b.shape) return;
  if (holds_node || (before.in_job && a.job == b.job)) ++help_;
}

void Cache::enter(const Place& place, const PodRecord& record) {
  count_company(record, 1);
  if (on_a_node(record.status, record.node)) {
    edit_node(record.node).book(*record.spec->shape, record.status, 1);
  }
  if (record.in_job) edit_job(record.spec->job).add({record.spec, record.status, record.node});
}

void Cache::leave(const Place& place, const PodRecord& record) {
  count_company(record, -1);
  if (on_a_node(record.status, record.node)) {
    edit_node(record.node).book(*record.spec->shape, record.status, -1);
    release_slot(record.node);
  }
  if (!record.in_job) return;
  edit_job(record.spec->job).remove(place.second);
  drop_job_if_empty(record.spec->job);
}

// True when nothing changed that scheduling looks at (a condition, say): only the object is newer.
bool Cache::refresh(const Place& place, PodRecord& record, const PodRecord& next) {
  const TaskSpec &a = *record.spec, &b = *next.spec;
  if (a.pod->uid() != b.pod->uid() || a.job != b.job || a.shape != b.shape || a.terms != b.terms ||
      a.role != b.role || a.priority != b.priority || a.gated != b.gated ||
      a.queue_gate != b.queue_gate || a.held_by_queue != b.held_by_queue ||
      a.nominated != b.nominated || a.preemptable != b.preemptable ||
      record.status != next.status || record.node != next.node || record.in_job != next.in_job) {
    return false;
  }
  const bool reworded = record.words != next.words;
  record.spec = next.spec;
  record.evicted = next.evicted;
  record.words = next.words;
  if (record.in_job) {
    JobInfo& job = reworded ? edit_job(next.spec->job) : touch_job(next.spec->job);
    job.find(place.second)->spec = next.spec;
    if (reworded && job.sub_group_policies) job.regroup();
  }
  return true;
}

void Cache::set_pod(const ObjectPtr& object) {
  const Place place(object->name_space(), object->name());
  const auto known = pods_.find(place);
  // Our own binds come by twice, as their answer and with the watch.
  if (known != pods_.end() && object->revision() <= known->second.spec->pod->revision()) return;
  const PodView pod(object);
  const NodeName node = pod.node_name();
  PodRecord next;
  if (known != pods_.end()) {
    const PodRecord& before = known->second;
    const bool same = before.spec->pod->uid() == object->uid();
    // Older than our eviction: it is on its way out, whatever it does meanwhile.
    next.evicted = same && before.evicted && !pod.deleting() && !pod.finished();
    // An answer older than our bind: the task keeps the node it is on its way to.
    if (same && before.status == TaskStatus::Binding && node.empty() && !pod.finished() &&
        !pod.deleting()) {
      known->second.newer = object;
      return;
    }
  }
  next.in_job = ours(pod) && !(outside_queues(pod) && !node.empty());
  next.status = next.evicted ? TaskStatus::Releasing : task_status(pod);
  const bool wanted = next.in_job || (!node.empty() && !pod.finished());
  if (wanted) {
    next.spec = task_spec(object, shapes_, terms_, names_);
    next.words = words_of(pod);
    if (!node.empty() && !pod.finished()) next.node = slot_of(node.text());
    if (known != pods_.end()) note_change(known->second, next);
    if (known != pods_.end() && refresh(place, known->second, next)) return;
  }
  if (known != pods_.end()) {
    const PodRecord before = known->second;
    leave(place, before);
    pods_.erase(known);
    const bool held = on_a_node(before.status, before.node);
    if (held && (!uses_node(next.status) || next.status == TaskStatus::Releasing) &&
        before.status != next.status) {
      ++help_;
    }
  }
  if (!wanted) return;
  // Leaving may have given the place back.
  if (!node.empty() && !pod.finished()) next.node = slot_of(node.text());
  if (next.in_job && next.spec->job.of_one_pod()) start_plain_job(pod, edit_job(next.spec->job));
  enter(place, next);
  if (on_a_node(next.status, next.node)) note_company();
  pods_.emplace(place, std::move(next));
}

void Cache::remove_pod(const std::string& name_space, const std::string& name) {
  const auto known = pods_.find(Place(name_space, name));
  if (known == pods_.end()) return;
  leave(known->first, known->second);
  pods_.erase(known);
  ++help_;
}

void Cache::move(PodRecord& record, TaskStatus status, NodeSlot node) {
  const Place place(record.spec->name_space(), record.spec->name());
  if (on_a_node(record.status, record.node)) {
    edit_node(record.node).book(*record.spec->shape, record.status, -1);
  }
  const NodeSlot left = record.node;
  count_company(record, -1);
  record.status = status;
  record.node = node;
  count_company(record, 1);
  if (on_a_node(status, node)) edit_node(node).book(*record.spec->shape, status, 1);
  if (left != kNoNode && left != node) release_slot(left);
  JobInfo& job = edit_job(record.spec->job);
  Task* task = job.find(place.second);
  CHECK(task != nullptr);
  job.set_status(*task, status, node);
}

bool Cache::assume(const JobKey& job, const std::string& pod, const Uid& uid, NodeSlot node) {
  const auto known = pods_.find(Place(job.name_space, pod));
  if (known == pods_.end() || known->second.spec->pod->uid() != uid ||
      known->second.status != TaskStatus::Pending) {
    return false;
  }
  move(known->second, TaskStatus::Binding, node);
  note_company();
  return true;
}

void Cache::forget(const JobKey& job, const std::string& pod, const Uid& uid) {
  const auto known = pods_.find(Place(job.name_space, pod));
  if (known == pods_.end() || known->second.spec->pod->uid() != uid ||
      known->second.status != TaskStatus::Binding) {
    return;
  }
  move(known->second, TaskStatus::Pending, kNoNode);
  ++help_;
  if (const ObjectPtr newer = std::exchange(known->second.newer, nullptr)) set_pod(newer);
}

bool Cache::assume_evicted(const JobKey& job, const std::string& pod, const Uid& uid) {
  const auto known = pods_.find(Place(job.name_space, pod));
  if (known == pods_.end() || known->second.spec->pod->uid() != uid ||
      !holds_place(known->second.status)) {
    return false;
  }
  PodRecord& record = known->second;
  move(record, TaskStatus::Releasing, record.node);
  record.evicted = true;
  if (const JobInfo& now = *jobs_.at(job); !now.is_ready()) edit_job(job).displaced = true;
  return true;
}

void Cache::forget_eviction(const JobKey& job, const std::string& pod, const Uid& uid) {
  const auto known = pods_.find(Place(job.name_space, pod));
  if (known == pods_.end() || known->second.spec->pod->uid() != uid || !known->second.evicted)
    return;
  PodRecord& record = known->second;
  record.evicted = false;
  move(record, task_status(PodView(record.spec->pod)), record.node);
  if (const JobInfo& now = *jobs_.at(job); now.is_ready()) edit_job(job).displaced = false;
  ++help_;
}

void Cache::set_node(const ObjectPtr& object) {
  NodeSpec spec = node_spec(object, names_);
  const NodeSlot slot = slot_of(object->name());
  if (nodes_[slot]->spec != nullptr && *nodes_[slot]->spec == spec) return;
  // How busy it is changes all the time; whoever looks at that tries again by himself.
  NodeSpec same_usage = spec;
  if (nodes_[slot]->spec != nullptr) same_usage.usage = nodes_[slot]->spec->usage;
  const bool only_usage = nodes_[slot]->spec != nullptr && *nodes_[slot]->spec == same_usage;
  NodeInfo& node = edit_node(slot);
  if (only_usage) {
    node.spec = std::make_shared<const NodeSpec>(std::move(spec));
    return;
  }
  if (node.spec != nullptr) node.idle -= node.spec->allocatable;
  node.idle += spec.allocatable;
  order_stale_ = order_stale_ || node.spec == nullptr;
  node.spec = std::make_shared<const NodeSpec>(std::move(spec));
  ++help_;
}

void Cache::remove_node(const std::string& name) {
  const auto known = slots_.find(name);
  if (known == slots_.end() || nodes_[known->second]->spec == nullptr) return;
  const NodeSlot slot = known->second;
  NodeInfo& node = edit_node(slot);
  node.idle -= node.spec->allocatable;
  node.spec.reset();
  order_stale_ = true;
  ++help_;  // it helps nobody, but who waits is told of one node less
  release_slot(slot);
}

void Cache::refresh_priority(JobInfo& job) const {
  if (job.group == nullptr) return;
  job.priority = 0;
  for (const auto& [name, known] : priority_classes_) {
    if (job.priority_class.empty() ? known.global_default : name == job.priority_class) {
      job.priority = known.value;
    }
  }
}

void Cache::set_group(const ObjectPtr& object) {
  const JobKey key{object->name_space(), object->name()};
  JobInfo& job = touch_job(key);
  if (job.group != nullptr && job.group->revision() > object->revision()) return;
  const JobInfo before = job;
  const PodGroupView group(object);
  read_group(object, job, options_.default_queue, names_);
  GroupRecord& record = groups_[key];
  if (record.uid != object->uid()) {
    record.uid = object->uid();
    job.phase = group.phase();
  }
  const std::uint64_t words = words_of(group);
  const bool reworded = std::exchange(record.words, words) != words;
  refresh_priority(job);
  // Our own status writes come back here as well; they are no news.
  if (before.known && !reworded && before.queue == job.queue &&
      before.min_member == job.min_member && before.priority == job.priority &&
      before.role_minimums == job.role_minimums && before.group != nullptr &&
      before.group->generation() == object->generation() && before.phase == job.phase &&
      before.waiting_limit == job.waiting_limit && before.network == job.network &&
      same_policies(before.sub_group_policies, job.sub_group_policies)) {
    return;
  }
  edit_job(key);
  ++help_;  // one more that wants something may be ahead of others: they are told
}

void Cache::remove_group(const std::string& name_space, const std::string& name) {
  const JobKey key{name_space, name};
  groups_.erase(key);
  const auto known = jobs_.find(key);
  if (known == jobs_.end() || known->second->group == nullptr) return;
  JobInfo& job = edit_job(key);
  job.group.reset();
  job.known = false;
  job.min_resources.reset();
  job.network.reset();
  job.sub_group_policies.reset();
  job.regroup();
  job.phase = PodGroupPhase::Pending;
  drop_job_if_empty(key);
  ++help_;
}

void Cache::set_phase(const JobKey& key, PodGroupPhase phase) {
  const auto known = jobs_.find(key);
  if (known == jobs_.end() || known->second->phase == phase) return;
  // What was held back for it while it was Inqueue is counted anew.
  if (known->second->phase == PodGroupPhase::Inqueue) ++help_;
  unsettled_jobs_.insert(key);
  JobInfo& job = edit(known->second);
  job.phase = phase;
  if (phase == PodGroupPhase::Running) job.displaced = false;
}

bool Cache::set_fragmented(const JobKey& key, bool fragmented) {
  const auto known = jobs_.find(key);
  if (known == jobs_.end() || known->second->fragmented == fragmented) return false;
  unsettled_jobs_.insert(key);
  edit(known->second).fragmented = fragmented;
  if (fragmented) ++help_;
  return fragmented;
}

void Cache::set_queue(const ObjectPtr& object) {
  const QueueName name(object->name());
  QueuePtr& queue = queues_[name];
  if (queue != nullptr && queue->object->revision() > object->revision()) return;
  // Its status.allocated is ours; only what an administrator sets can help a job.
  const QueueView now(object);
  const bool news = queue == nullptr || queue->object->generation() != object->generation() ||
                    queue->object->uid() != object->uid() || queue->state != now.state() ||
                    words_of(ObjectView(queue->object)) != words_of(now);
  queue = std::make_shared<const QueueInfo>(queue_info(object, names_));
  if (news) ++help_;
}

void Cache::remove_queue(const std::string& name) {
  if (queues_.erase(QueueName(name)) > 0) ++help_;
}

void Cache::set_priority_class(const ObjectPtr& object) {
  priority_classes_[object->name()] = priority_class_info(object);
  refresh_priorities();
}

void Cache::remove_priority_class(const std::string& name) {
  if (priority_classes_.erase(name) > 0) refresh_priorities();
}

void Cache::refresh_priorities() {
  for (auto& [key, job] : jobs_) {
    const std::int64_t before = job->priority;
    JobInfo copy;
    copy.group = job->group;
    copy.priority_class = job->priority_class;
    copy.priority = before;
    refresh_priority(copy);
    if (copy.priority == before) continue;
    edit_job(key).priority = copy.priority;
    ++help_;  // it may be ahead of others no more, or have to go for them
  }
}

void Cache::settle() {
  for (const JobKey& key : unsettled_jobs_) {
    const JobInfo* now = job(key);
    job_ledger_.set(key, now);
    fairshare_.set(key, now, names_);
    // Who has no pods, or no group yet, is seen again when they come, or when somebody asks for
    // him.
    if (now != nullptr && now->open() && !now->is_bare() && !now->awaits_group()) {
      open_jobs_.insert(key);
    } else {
      open_jobs_.erase(key);
    }
  }
  unsettled_jobs_.clear();
  for (const NodeSlot slot : unsettled_nodes_) node_ledger_.set(slot, nodes_[slot].get());
  unsettled_nodes_.clear();
  if (!std::exchange(order_stale_, false)) return;
  order_.clear();
  rank_.assign(nodes_.size(), 0);
  for (const auto& [name, slot] : slots_) {
    if (nodes_[slot]->spec == nullptr) continue;
    rank_[slot] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(slot);
  }
}

bool Cache::use_fairshare(std::shared_ptr<const FairshareRules> rules) {
  if (!fairshare_.use(std::move(rules))) return false;
  for (const auto& [key, job] : jobs_) fairshare_.set(key, job.get(), names_);
  return true;
}

const std::map<QueueName, QueueSums>& Cache::queue_sums() {
  settle();
  return job_ledger_.queues();
}

std::vector<PlacedPod> Cache::placed_pods() const {
  std::vector<PlacedPod> out;
  for (const auto& [place, record] : pods_) {
    if (on_a_node(record.status, record.node) && nodes_[record.node]->spec != nullptr)
      out.push_back({record.spec, record.node, record.status == TaskStatus::Releasing});
  }
  return out;
}

void Cache::look_at(const JobKey& job) {
  if (jobs_.contains(job)) changed_jobs_.insert(job);
}

}  // namespace krater::scheduler
