#include "scheduler/testing/arena.h"

#include "base/check.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {

Arena::Arena(const naive::World& world, const naive::State& state, std::string_view actions) {
  Result<Config> config = parse_config(config_of(world.rules, actions));
  CHECK_MSG(config.has_value(), config.error().message);
  config_ = *std::move(config);
  add(Json(frame_of(world)));
  for (const naive::Job& job : world.jobs) add(Json(things_of(job, state)));
  for (const naive::Job& job : world.jobs) {
    if (naive::placed(state.placed, job) == 0)
      cache_.set_phase({"d", job.name}, PodGroupPhase::Inqueue);
  }
  session_.emplace(cache_.snapshot(Scope::All), config_, "session", WallTime{});
}

void Arena::add(const Json& things) {
  const auto each = [&](std::string_view list, auto store_one) {
    const JsonArray* all = array_at(things, {list});
    if (all == nullptr) return;
    for (const Json& brief : *all) store_one(brief);
  };
  each("classes", [&](const Json& brief) {
    Json out = new_object(kinds::kPriorityClass, "", text_at(brief, {"name"}));
    set_path(out, {"value"}, *find(brief, {"value"}));
    store(kinds::kPriorityClass, std::move(out), &Cache::set_priority_class);
  });
  each("nodes",
       [&](const Json& brief) { store(kinds::kNode, make_node(brief), &Cache::set_node); });
  each("queues",
       [&](const Json& brief) { store(kinds::kQueue, make_queue(brief), &Cache::set_queue); });
  each("groups",
       [&](const Json& brief) { store(kinds::kPodGroup, make_group(brief), &Cache::set_group); });
  each("pods", [&](const Json& brief) { store(kinds::kPod, make_pod(brief), &Cache::set_pod); });
}

void Arena::store(const Kind& kind, Json object, void (Cache::*set)(const ObjectPtr&)) {
  const std::string name = text_at(object, {"metadata", "name"});
  set_path(object, {"metadata", "uid"}, Json("uid-" + name));
  (cache_.*set)(*Object::parse(ObjectKey::of(kind, kind.namespaced ? "d" : "", name),
                               Revision(++revision_),
                               std::make_shared<const std::string>(to_json(object))));
}

void Arena::run() {
  for (const ActionEntry* action : config_.actions) {
    session_->begin(action->name);
    action->execute(*session_);
  }
}

JobId Arena::job(const std::string& name) const {
  for (JobId id = 0; id < session_->job_count(); ++id) {
    if (session_->job(id).key.name == name) return id;
  }
  CHECK_MSG(false, name);
  return 0;
}
QueueId Arena::queue(const std::string& name) const {
  for (QueueId id = 0; id < session_->queue_count(); ++id) {
    if (session_->queue(id).name.text() == name) return id;
  }
  CHECK_MSG(false, name);
  return 0;
}

naive::Placement Arena::bound() const {
  naive::Placement out;
  for (const auto& [job, tasks] : session_->bound_tasks()) {
    for (const std::uint32_t t : tasks) out.emplace(pod({job, t}), node({job, t}));
  }
  return out;
}

std::vector<naive::Claim> Arena::claims() const {
  std::vector<naive::Claim> out;
  for (const Eviction& one : session_->evictions()) {
    naive::Claim claim{one.action == "reclaim" || one.action == "gangreclaim",
                       session_->job(one.claimant).key.name};
    for (const TaskRef& victim : one.victims) claim.victims.push_back(pod(victim));
    for (const TaskRef& task : one.nominated) claim.promised.emplace_back(pod(task), node(task));
    out.push_back(std::move(claim));
  }
  return out;
}

}  // namespace krater::scheduler
