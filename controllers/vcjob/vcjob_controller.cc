#include "controllers/vcjob/vcjob_controller.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "controllers/loop/event_source.h"
#include "controllers/vcjob/memory.h"
#include "controllers/vcjob/plugins/plugins.h"
#include "controllers/vcjob/pod_group.h"
#include "controllers/vcjob/step.h"
#include "controllers/vcjob/volumes.h"
#include "controllers/vcjob/why_pending.h"
#include "model/keys.h"
#include "model/object_key_hash.h"
#include "model/queue.h"

namespace krater::controllers {
namespace {

using namespace vcjob;  // NOLINT(google-build-using-namespace)

ObjectKey key_of_job(const std::string& name_space, const std::string& name) {
  return ObjectKey::of(kinds::kVolcanoJob, name_space, name);
}

// The job an order is for; an empty name when it is for something else.
ObjectKey target_of(const Object& command) {
  const auto document = command.document();
  const std::string api = text_at(*document, {"target", "apiVersion"});
  if (text_at(*document, {"target", "kind"}) != kinds::kVolcanoJob.kind ||
      (!api.empty() && api != kinds::kVolcanoJob.api_version()))
    return key_of_job("", "");
  return key_of_job(command.name_space(), text_at(*document, {"target", "name"}));
}

// Whether it was given to a job of this name that is gone.
bool is_outlived(const Object& command, const Object& job) {
  const std::string uid = text_at(*command.document(), {"target", "uid"});
  return !uid.empty() && uid != job.uid().text();
}

bool hands_on(const QueueView& queue) {
  const JsonArray* clusters = array_at(queue.document(), {"spec", "extendClusters"});
  return clusters != nullptr && !clusters->empty();
}

constexpr Duration kNewsPause = 1s, kLastNewsPause = 30s;

// What a job reads of its group: whether it may make pods, what it asks for, why it waits.
bool group_learns_nothing(const ObjectPtr& before, const ObjectPtr& after) {
  const PodGroupView old(before), now(after);
  const auto waits = [](const PodGroupView& group) {
    return group.phase() == PodGroupPhase::Pending || group.phase() == PodGroupPhase::Unknown;
  };
  return before->uid() == after->uid() && before->generation() == after->generation() &&
         before->deletion() == after->deletion() &&
         before->owners().size() == after->owners().size() && !waits(old) && !waits(now) &&
         why_group_waits(old) == why_group_waits(now);
}

class VolcanoJobController final : public Reconciler, public VolcanoEventSource {
 public:
  explicit VolcanoJobController(VolcanoJobDeps deps) : deps_(std::move(deps)) {}

  std::string_view name() const override { return "vcjob-controller"; }

  std::vector<Interest> interests() const override {
    using Keys = std::vector<ObjectKey>;
    const auto owned = [](const ObjectPtr& before, const ObjectPtr& after) {
      return keys_of_owned(before, after);
    };
    std::vector<Interest> out{
        {kinds::kVolcanoJob,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_job(before, after);
         }},
        {kinds::kPod,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_pod(before, after);
         }},
        {kinds::kPodGroup,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_group(before, after);
         }},
        {kinds::kCommand,
         [](const ObjectPtr&, const ObjectPtr& after) -> Keys {
           if (after == nullptr) return {};
           const ObjectKey job = target_of(*after);
           return job.name.empty() ? Keys() : Keys{job};
         }},
        {kinds::kQueue,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_queue(before, after);
         }},
        {kinds::kPriorityClass, [](const ObjectPtr&, const ObjectPtr&) -> Keys { return {}; }},
        {kRuntimeClassKind, [](const ObjectPtr&, const ObjectPtr&) -> Keys { return {}; }},
        {kinds::kService, owned},
        {kinds::kConfigMap, owned},
        {kinds::kSecret, owned}};
    for (const Kind& kind : {kNetworkPolicy, kPersistentVolumeClaim}) {
      if (deps_.served(kind)) out.push_back({kind, owned});
    }
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const std::vector<ObjectPtr> orders = orders_for(key, cache);
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || object->deletion()) {
      memory_.erase(key);
      Plan plan;
      for (const ObjectPtr& order : orders) plan.then(take(*order));
      return plan;
    }
    Observed seen = observe(object, cache);
    if (!seen.status.phase) return settle(seen, now).plan;
    Memory& memory = memory_[key];
    memory.refresh(seen, now);
    for (const Memory::Done& one : memory.done)
      seen.status.add_succeeded_and_gone(one.task, one.index);
    seen.ssh_key = memory.ssh_key;
    seen.counts_since = memory.counts_since;
    seen.creation_failed = std::exchange(memory.creation_failed, false);
    std::vector<EventNote> notes;
    const auto news_due = tell_group_news(seen, memory, notes, now);
    const auto reason_due = note_why_pending(memory.group_news, seen, now);
    Plan plan = decide(seen, orders, memory, now);
    plan.events.insert(plan.events.begin(), notes.begin(), notes.end());
    for (const auto& due : {news_due, reason_due}) {
      if (due) come_back(*due, plan);
    }
    ask_for_key(key, seen, memory);
    return plan;
  }

  void write_failed(const ObjectKey& key, const PlannedWrite& write, const Error&) override {
    const auto* creation = std::get_if<client::CreateWrite>(&write.write);
    if (creation != nullptr) memory_[key].creation_failed = true;
  }

 private:
  static std::vector<ObjectKey> keys_of_owned(const ObjectPtr& before, const ObjectPtr& after) {
    std::vector<ObjectKey> out;
    for (const ObjectPtr& object : {before, after}) {
      if (object == nullptr) continue;
      const OwnerReference* owner = owning_volcano_job(*object);
      if (owner == nullptr) continue;
      ObjectKey key = key_of_job(object->name_space(), owner->name);
      if (std::ranges::count(out, key) == 0) out.push_back(std::move(key));
    }
    return out;
  }

  std::vector<ObjectKey> on_job(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectKey key = (after ? after : before)->key();
    // Its queue changes with its spec alone.
    const bool same_spec = before && after && before->uid() == after->uid() &&
                           before->generation() == after->generation();
    if (before && !same_spec) of_queue_[VolcanoJobView(before).queue().text()].erase(key);
    if (after && !same_spec) of_queue_[VolcanoJobView(after).queue().text()].insert(key);
    if (after == nullptr) memory_.erase(key);
    return {key};
  }

  std::vector<ObjectKey> on_queue(const ObjectPtr& before, const ObjectPtr& after) const {
    // Only its coming and going matters, and where it hands jobs on to.
    if (before && after && hands_on(QueueView(before)) == hands_on(QueueView(after))) return {};
    const std::set<ObjectKey>& jobs = of_queue_[(after ? after : before)->name()];
    return {jobs.begin(), jobs.end()};
  }

  // A pod that is gone leaves no trace but this.
  std::vector<ObjectKey> on_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out = keys_of_owned(before, after);
    if (before == nullptr) return out;
    // That it was given a node, say, changes nothing about its job.
    if (after != nullptr)
      return out.size() == 1 && learns_nothing(before, after) ? std::vector<ObjectKey>() : out;
    facts_.erase(before->key());
    if (out.empty()) return out;
    const PodFact pod = fact_of(before);
    if (pod.out_of_sync) return out;
    Memory& memory = memory_[out.front()];
    if (pod.succeeded()) {
      memory.done.push_back({owning_volcano_job(*before)->uid, pod.task, pod.index});
      return out;
    }
    Occurrence evicted;
    evicted.event = VolcanoEvent::PodEvicted;
    evicted.task = pod.task;
    evicted.pod = pod.name();
    evicted.partition = pod.partition;
    evicted.pod_uid = before->uid();
    evicted.job_uid = owning_volcano_job(*before)->uid;
    evicted.version = pod.version;
    evicted.by_scheduler = pod.by_scheduler;
    memory.happened.push_back(std::move(evicted));
    return out;
  }

  // Only of pods that a pass has looked at.
  bool learns_nothing(const ObjectPtr& before, const ObjectPtr& after) const {
    const auto known = facts_.find(before->key());
    if (known == facts_.end() || known->second.object != before) return false;
    const OwnerReference *was = owning_volcano_job(*before), *is = owning_volcano_job(*after);
    if (was == nullptr || is == nullptr || was->uid != is->uid) return false;
    PodFact next = fact_of(after);
    const bool same = known->second.says_the_same(next);
    known->second = std::move(next);
    return same;
  }

  std::vector<ObjectKey> on_group(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out = keys_of_owned(before, after);
    if (out.empty() || after == nullptr) return out;
    if (before != nullptr && group_learns_nothing(before, after)) return {};
    const auto unknown = [](const ObjectPtr& group) {
      return group && PodGroupView(group).phase() == PodGroupPhase::Unknown;
    };
    if (!unknown(after) || unknown(before)) return out;
    Occurrence lost;
    lost.event = VolcanoEvent::Unknown;
    lost.job_uid = owning_volcano_job(*after)->uid;
    lost.version = std::numeric_limits<std::int32_t>::max();  // of whatever version there is
    memory_[out.front()].happened.push_back(std::move(lost));
    return out;
  }

  // Oldest first.
  static std::vector<ObjectPtr> orders_for(const ObjectKey& key, const client::Cache& cache) {
    std::vector<ObjectPtr> out;
    if (cache.count(kinds::kCommand) == 0) return out;
    for (const ObjectPtr& command : cache.list(kinds::kCommand, key.name_space)) {
      if (!command->deletion() && target_of(*command) == key) out.push_back(command);
    }
    std::ranges::sort(out, {}, [](const ObjectPtr& one) { return one->revision(); });
    return out;
  }

  Observed observe(const ObjectPtr& object, const client::Cache& cache) {
    Observed seen;
    seen.job = VolcanoJobView(object);
    seen.tasks = seen.job.tasks();
    seen.policies = seen.job.policies();
    seen.stored = Status::of(seen.job);
    seen.status = seen.stored;
    for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, object->uid()))
      seen.pods.push_back(fact(pod));
    seen.group = PodGroupView(group_of(seen.job, cache));
    const ObjectPtr queue = cache.get(kinds::kQueue, "", seen.job.queue().text());
    seen.queue_exists = queue != nullptr;
    seen.forwards = queue != nullptr && hands_on(QueueView(queue));
    const std::string name_space = object->name_space();
    seen.child = [&cache, name_space](const Kind& kind, const std::string& name) {
      return cache.get(kind, name_space, name);
    };
    seen.served = deps_.served;
    seen.runtime_class = [&cache](const std::string& name) {
      return cache.get(kRuntimeClassKind, "", name);
    };
    seen.priority = [&cache](const std::string& name) -> std::optional<std::int64_t> {
      const ObjectPtr priority = cache.get(kinds::kPriorityClass, "", name);
      if (priority == nullptr) return std::nullopt;
      return int_at(*priority->document(), {"value"}).value_or(0);
    };
    return seen;
  }

  // Older versions of Volcano named the group like the job.
  static ObjectPtr group_of(const VolcanoJobView& job, const client::Cache& cache) {
    for (const std::string& name : {job.pod_group_name(), job->name()}) {
      ObjectPtr group = cache.get(kinds::kPodGroup, job->name_space(), name);
      if (group == nullptr) continue;
      const OwnerReference* owner = owning_volcano_job(*group);
      if (owner != nullptr && owner->uid == job->uid()) return group;
    }
    return nullptr;
  }

  // A job of a thousand pods is passed over a thousand times: each pod is read once a revision.
  const PodFact& fact(const ObjectPtr& pod) {
    PodFact& known = facts_[pod->key()];
    if (known.object != pod) known = fact_of(pod);
    return known;
  }

  static PlannedWrite take(const Object& order) {
    client::DeleteWrite gone{kinds::kCommand, order.name_space(), order.name()};
    gone.only_uid = order.uid();
    return {std::move(gone), Code::NotFound, {}, {}};
  }

  // An order is taken before it is carried out, so that it is carried out once; until the status
  // shows it, it is remembered.
  Plan decide(const Observed& seen, const std::vector<ObjectPtr>& orders, Memory& memory,
              WallTime now) {
    std::vector<std::vector<PlannedWrite>> taking;
    std::vector<EventNote> notes;
    std::erase_if(memory.taken, [&](const Uid& uid) {
      return std::ranges::none_of(orders, [&](const ObjectPtr& one) { return one->uid() == uid; });
    });
    for (const ObjectPtr& order : orders) {
      const std::string action = text_at(*order->document(), {"action"});
      taking.push_back({take(*order)});
      if (is_outlived(*order, *seen.job.object())) continue;
      notes.push_back({EventNote::Type::Normal, "CommandIssued",
                       "Start to execute command " + action +
                           ", and clean it up to make sure executed not more than once."});
      const auto known = volcano_action(action);
      if (memory.taken.insert(order->uid()).second && known)
        memory.give_order(*known, seen.job->uid());
    }
    const Choice choice = choose(seen, memory.happened, now);
    for (const Delayed& delayed : choice.delayed) announce(delayed, seen, memory, notes);
    Settled settled = choice.chosen ? Settled{act(seen, *choice.chosen, now)} : settle(seen, now);
    Plan plan = std::move(settled.plan);
    if (!settled.counts_wait) memory.counts_since.reset();
    if (settled.counts_wait && !memory.counts_since) memory.counts_since = now;
    memory.settle(choice, seen.status);
    plan.steps.insert(plan.steps.begin(), taking.begin(), taking.end());
    plan.events.insert(plan.events.begin(), notes.begin(), notes.end());
    if (choice.come_back) come_back(*choice.come_back, plan);
    if (!memory.happened.empty() && memory.has_orders()) come_back(1ms, plan);
    return plan;
  }

  static void come_back(Duration when, Plan& plan) {
    if (plan.outcome.what == Outcome::What::RequeueAfter) when = std::min(when, plan.outcome.after);
    plan.outcome = Outcome::requeue_after(std::max(when, Duration(1ms)));
  }

  // Once for each kind of event in a life of the job: all its pods begin as pending ones.
  static void announce(const Delayed& delayed, const Observed& seen, Memory& memory,
                       std::vector<EventNote>& notes) {
    const std::string key = std::to_string(seen.status.version) + "/" +
                            std::string(to_text(delayed.why.event)) + "/" +
                            std::string(to_text(delayed.answer.action));
    if (!memory.told.insert(key).second) return;
    notes.push_back({EventNote::Type::Normal, "ExecuteAction",
                     "Execute action " + std::string(to_text(delayed.answer.action)) + " after " +
                         to_go_duration(delayed.answer.delay) + ": " + delayed.why.text()});
  }

  // The words change with every figure of the cluster: they are told after a pause that doubles,
  // in one Event. How long it is until then, if there is something to be told.
  static std::optional<Duration> tell_group_news(const Observed& seen, Memory& memory,
                                                 std::vector<EventNote>& notes, WallTime now) {
    std::string news = is_active(*seen.status.phase) ? why_group_waits(seen.group) : "";
    if (news.empty()) {
      memory.group_news.clear();
      memory.news_at.reset();
      return std::nullopt;
    }
    news.insert(0, "PodGroup " + seen.job->name_space() + ":" + seen.job->name() + " ");
    if (news == memory.group_news) return std::nullopt;
    if (memory.news_at && now < *memory.news_at + memory.news_pause)
      return *memory.news_at + memory.news_pause - now;
    memory.news_pause =
        memory.news_at ? std::min(2 * memory.news_pause, kLastNewsPause) : kNewsPause;
    memory.news_at = now;
    EventNote note{EventNote::Type::Warning, "PodGroupPending", news};
    note.current = true;
    notes.push_back(std::move(note));
    memory.group_news = std::move(news);
    return std::nullopt;
  }

  void ask_for_key(const ObjectKey& key, const Observed& seen, Memory& memory) {
    if (memory.key_asked || !is_active(*seen.status.phase)) return;
    if (!sync_plugin_objects(seen).needs_key) return;
    memory.key_asked = true;
    deps_.make_ssh_key([this, alive = std::weak_ptr<bool>(alive_), key](SshKey made) {
      if (alive.expired()) return;
      const auto place = memory_.find(key);
      if (place == memory_.end()) return;
      place->second.ssh_key = std::move(made);
      deps_.enqueue(key);
    });
  }

  VolcanoJobDeps deps_;
  template <typename T>
  using ByKey = std::unordered_map<ObjectKey, T, ObjectKeyHash>;
  mutable ByKey<PodFact> facts_;  // of pods that are there
  mutable ByKey<Memory> memory_;  // of jobs that are there
  mutable std::map<std::string, std::set<ObjectKey>> of_queue_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<Reconciler> make_volcano_job_controller(VolcanoJobDeps deps) {
  return std::make_unique<VolcanoJobController>(std::move(deps));
}

}  // namespace krater::controllers
