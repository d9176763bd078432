#include "scheduler/session.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

// Beyond its grace period, a pod may take so long to leave.
constexpr Duration kLeavingMargin = std::chrono::seconds(30);

}  // namespace

Session::Session(Snapshot snapshot, const Config& config, std::string id, WallTime now,
                 const std::function<bool(const JobInfo&)>& parked, ExtenderCaller* extender,
                 AroundPlugin around)
    : world_(std::move(snapshot)),
      config_(config),
      id_(std::move(id)),
      now_(now),
      around_(std::move(around)),
      extender_(extender),
      guarantees_(world_, config.behaviors,
                  config.plugin("capacity") || config.plugin("proportion")) {
  for (QueueId q = 0; q < queue_count(); ++q) queue_ids_.emplace(queue(q).name, q);
  parked_.resize(job_count(), false);
  for (JobId id_of_job = 0; id_of_job < job_count(); ++id_of_job) {
    enter_queue(id_of_job);
    if (parked) parked_[id_of_job] = parked(job(id_of_job));
  }
  open_plugins();
}

void Session::enter_queue(JobId id) {
  const auto place = queue_ids_.find(job(id).queue);
  queue_of_.push_back(place == queue_ids_.end() ? kNoQueue : place->second);
}

QueueId Session::queue_of(const JobKey& key) const {
  if (!world_.queue_of) return kNoQueue;
  const auto place = queue_ids_.find(world_.queue_of(key));
  return place == queue_ids_.end() ? kNoQueue : place->second;
}

void Session::load_all() {
  if (std::exchange(loaded_, true)) return;
  const JobId first = job_count();
  if (world_.rest) {
    for (JobPtr& job : world_.rest()) world_.jobs.push_back(std::move(job));
  }
  parked_.resize(job_count(), true);
  for (JobId id = first; id < job_count(); ++id) enter_queue(id);
  residents_.resize(node_slots());
  for (JobId id = 0; id < job_count(); ++id) {
    const JobInfo& info = job(id);
    if (!info.known || queue_of(id) == kNoQueue) continue;
    for (std::uint32_t t = 0; t < info.tasks.size(); ++t) {
      const Task& task = info.tasks[t];
      if (holds_place(task.status) && has_node(task.node)) residents_[task.node].push_back({id, t});
    }
  }
  for (const auto& plugin : plugins_.plugins) plugin->joined(*this, first);
}

const TaskRefs& Session::residents(NodeSlot slot) const {
  static const TaskRefs nobody;
  return slot < residents_.size() ? residents_[slot] : nobody;
}

std::vector<TaskSpecPtr> Session::leaving_for(JobId id) const {
  std::vector<TaskSpecPtr> out;
  if (world_.leaving_for) out = world_.leaving_for(job(id).key);
  for (const Eviction& one : evictions_) {
    if (one.claimant != id || one.action == "shuffle") continue;
    for (const TaskRef& victim : one.victims) out.push_back(task(victim).spec);
  }
  return out;
}

const JobNote& Session::note(JobId id) const {
  static const JobNote nothing;
  const auto place = notes_.find(id);
  return place == notes_.end() ? nothing : place->second;
}

void Session::look_again(WallTime when) {
  for (JobId id = 0; id < job_count(); ++id) look_again(id, when);
}

void Session::look_again(JobId id, WallTime when) {
  if (parked(id) || !job(id).open()) return;
  std::optional<WallTime>& again = notes_[id].again;
  if (!again || when < *again) again = when;
}

NodeSlot Session::find_node(const NodeName& name) const {
  const auto place = std::lower_bound(
      world_.order.begin(), world_.order.end(), name.text(),
      [this](NodeSlot slot, const std::string& wanted) { return node(slot).name < wanted; });
  return place != world_.order.end() && node(*place).name == name.text() ? *place : kNoNode;
}

// Which of all that is said of other pods means this one. Empty: nobody speaks of it, and it speaks
// of nobody.
std::string Session::kinship(const TaskSpec& task) const {
  const NeighbourRules& rules = plugins_.neighbours;
  std::string out;
  bool concerned = task.terms != nullptr && (rules.affinity || rules.spread ||
                                             rules.affinity_weight + rules.spread_weight > 0);
  if (!rules.affinity && rules.affinity_weight == 0) return concerned ? "-" : out;
  for (const PodTermsPtr& terms : world_.terms) {
    for (const auto* list : {&terms->affinity, &terms->anti_affinity, &terms->preferred}) {
      for (const PodTerm& term : *list) {
        const bool meant = term.means(task.name_space(), task.pod->labels(), namespaces());
        concerned = concerned || meant;
        out += meant ? '1' : '0';
      }
    }
  }
  // Spread counts by labels of its own kind.
  if (task.terms != nullptr) {
    for (const SpreadConstraint& rule : task.terms->spread)
      out += rule.means(task.pod->labels()) ? '1' : '0';
    out += '-';
  }
  return concerned ? out : std::string();
}

bool Session::anybody_speaks_of_pods() const {
  return std::any_of(world_.terms.begin(), world_.terms.end(),
                     [](const PodTermsPtr& terms) { return terms->speaks_of_pods(); });
}

// The task as it is scored: who states no spread is spread with those that belong with it.
TaskSpecPtr Session::spread_by_default(const TaskSpecPtr& task) {
  if (plugins_.neighbours.spread_weight == 0 || !world_.spread_defaults) return task;
  if (task->terms != nullptr && !task->terms->spread.empty()) return task;
  const std::string selector = world_.spread_defaults->selector_for(*task->pod);
  if (selector.empty()) return task;
  PodTermsPtr& terms = default_terms_[{task->terms.get(), task->name_space() + "\n" + selector}];
  if (terms == nullptr) {
    auto fresh = task->terms == nullptr ? std::make_shared<PodTerms>()
                                        : std::make_shared<PodTerms>(*task->terms);
    if (Result<LabelSelector> read = LabelSelector::parse(selector); read)
      fresh->spread = default_spread(*read);
    terms = std::move(fresh);
  }
  auto out = std::make_shared<TaskSpec>(*task);
  out->terms = terms;
  return out;
}

NodeBoard& Session::board(TaskRef ref) {
  const TaskSpecPtr spec = spread_by_default(task(ref).spec);
  std::string kin = world_.terms.empty() && spec->terms == nullptr ? std::string() : kinship(*spec);
  const bool alone = kin.empty();
  bool of_others = confined(ref.job);
  if (of_others) kin += "\ndomain " + std::to_string(ref.job);
  const auto add_words = [&](const auto& hooks) {
    int number = 0;
    for (const auto& tier : hooks.tiers) {
      for (const auto* hook : tier) {
        ++number;
        const Likeness like = hook->likeness(*this, ref);
        if (like.word.empty()) continue;
        kin += '\n' + std::to_string(number) + ' ' + like.word;
        of_others = of_others || like.of_others;
      }
    }
  };
  add_words(plugins_.task_filter);
  add_words(plugins_.task_score);
  std::unique_ptr<NodeBoard>& board =
      boards_[std::tuple(spec->shape.get(), alone ? nullptr : spec->terms.get(), std::move(kin))];
  if (board == nullptr)
    board = std::make_unique<NodeBoard>(*this, ref, alone ? nullptr : spec, of_others);
  return *board;
}

const VolumeBook& Session::volumes() const {
  static const VolumeBook kNone;
  return world_.volumes ? *world_.volumes : kNone;
}

std::vector<std::vector<Domain>> Session::domains_for(JobId id) const {
  for (const auto& tier : plugins_.domains.tiers) {
    for (const DomainHook* hook : tier) return hook->domains_for(*this, id);
  }
  return {};
}

std::vector<std::vector<Domain>> Session::domains_for_sub_group(JobId id,
                                                                std::uint32_t group) const {
  for (const auto& tier : plugins_.domains.tiers) {
    for (const DomainHook* hook : tier) return hook->domains_for_sub_group(*this, id, group);
  }
  return {};
}

std::string Session::domain_of(JobId id) const {
  for (const auto& tier : plugins_.domains.tiers) {
    for (const DomainHook* hook : tier) return hook->domain_of(*this, id);
  }
  return {};
}

void Session::confine(JobId id, const Domain* domain) {
  if (domain == nullptr) {
    confined_.erase(id);
  } else {
    confined_[id] = domain;
  }
}

const std::vector<PlacedPod>& Session::placed_pods() const {
  if (!placed_pods_) placed_pods_ = world_.placed ? world_.placed() : std::vector<PlacedPod>();
  return *placed_pods_;
}

bool Session::room_is_coming(const TaskSpec& task) const {
  if (task.nominated.empty()) return false;
  const NodeSlot promised = find_node(task.nominated);
  if (promised == kNoNode || node(promised).releasing.is_zero()) return false;
  return std::any_of(placed_pods().begin(), placed_pods().end(), [promised](const PlacedPod& one) {
    if (one.node != promised || !one.leaving) return false;
    const auto why = PodView(one.task->pod).condition("DisruptionTarget");
    return why && why->status == "True" && why->reason == "PreemptionByScheduler";
  });
}

const LateRoom& Session::late_room(NodeSlot slot) const {
  if (!late_rooms_) {
    late_rooms_.emplace();
    for (const PlacedPod& one : placed_pods()) {
      if (!one.leaving) continue;
      LateRoom& room = (*late_rooms_)[one.node];
      // One that the scheduler is just taking away has no time yet.
      const WallTime late = one.task->pod->deletion().value_or(now_) + kLeavingMargin;
      if (late <= now_) {
        room.held += one.task->shape->request;
      } else if (!room.next || late < *room.next) {
        room.next = late;
      }
    }
  }
  static const LateRoom none;
  const auto place = late_rooms_->find(slot);
  return place == late_rooms_->end() ? none : place->second;
}

const Domains& Session::domains(const std::string& topology_key) const {
  const auto [place, fresh] = domains_.try_emplace(topology_key);
  Domains& out = place->second;
  if (!fresh) return out;
  out.of_slot.assign(node_slots(), Domains::kNone);
  std::map<std::string, std::uint32_t> numbers;
  for (const NodeSlot slot : node_order()) {
    const Labels& labels = node(slot).spec->labels;
    const auto label = labels.find(topology_key);
    if (label == labels.end()) continue;
    out.of_slot[slot] = numbers.emplace(label->second, out.count).first->second;
    out.count = static_cast<std::uint32_t>(numbers.size());
  }
  return out;
}

const PodGroupCondition* Session::condition(JobId id) const {
  const auto place = conditions_.find(id);
  return place == conditions_.end() ? nullptr : &place->second;
}

std::map<JobId, std::vector<std::uint32_t>> Session::bound_tasks() const {
  std::map<JobId, std::vector<std::uint32_t>> out;
  for (const auto& [id, tasks] : bound_) {
    if (!tasks.empty()) out.emplace(id, tasks);
  }
  return out;
}

}  // namespace krater::scheduler
