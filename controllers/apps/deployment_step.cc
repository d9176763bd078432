#include "controllers/apps/deployment_step.h"

#include <algorithm>

#include "controllers/apps/deployment_status.h"
#include "controllers/apps/rollout.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

class Pass {
 public:
  Pass(DeploymentSeen seen, WallTime now)
      : seen_(std::move(seen)),
        deployment_(seen_.deployment),
        sets_(seen_.sets),
        now_(now),
        before_(DeploymentStatus::of(deployment_)),
        judged_(before_) {
    sort_by_age(sets_);
    newest_ = newest_of(deployment_, sets_);
  }

  Plan run() && {
    if (deployment_->deletion()) {
      report(false);
      return std::move(plan_);
    }
    judge_pause(deployment_, judged_, now_);
    if (deployment_.paused()) {
      spread(deployment_, sets_, newest_);
      clear_history();
      report(false);
    } else if (resized(deployment_, sets_) && spread(deployment_, sets_, newest_)) {
      report(false);
    } else {
      roll_out();
      report(true);
    }
    return std::move(plan_);
  }

 private:
  std::int64_t next_revision() const {
    std::int64_t newest_old = 0;
    for (const SetPlan& plan : sets_) {
      if (&plan != newest_) newest_old = std::max(newest_old, plan.revision());
    }
    return newest_old + 1;
  }

  void roll_out() {
    if (newest_ != nullptr) {
      annotate_newest(deployment_, *newest_, next_revision());
      if (judged_.find("Progressing") == nullptr && deployment_.progress_deadline_s()) {
        judged_.set("Progressing", "True", "FoundNewReplicaSet",
                    "Found new replica set \"" + newest_->set->name() + "\"", now_);
      }
    }
    deployment_.recreates() ? recreate() : roll();
    if (before_.complete(deployment_)) clear_history();
  }

  void roll() {
    if (newest_ == nullptr) return make_newest();
    if (!grow_newest(deployment_, sets_, *newest_)) shrink_others(deployment_, sets_, *newest_);
  }

  void recreate() {
    bool old_left = false;
    for (SetPlan& plan : sets_) {
      if (&plan == newest_) continue;
      old_left = old_left || plan.replicas > 0 || seen_.has_pods(plan.set);
      if (plan.replicas > 0) scale_set(deployment_, plan, 0);
    }
    if (old_left) return;
    if (newest_ == nullptr) return make_newest();
    if (newest_->replicas != deployment_.replicas())
      scale_set(deployment_, *newest_, deployment_.replicas());
  }

  void make_newest() {
    std::int64_t collisions = before_.collisions.value_or(0);
    while (seen_.name_taken(set_name(deployment_, collisions))) ++collisions;
    if (collisions > 0) judged_.collisions = collisions;
    const std::string name = set_name(deployment_, collisions);
    if (!seen_.create_error.empty()) {
      judged_.set("Progressing", "False", "ReplicaSetCreateError",
                  "Failed to create new replica set \"" + name + "\": " + seen_.create_error, now_);
    } else if (deployment_.progress_deadline_s()) {
      judged_.set("Progressing", "True", "NewReplicaSetCreated",
                  "Created new replica set \"" + name + "\"", now_);
    }
    const std::int64_t replicas = first_replicas(deployment_, sets_);
    made_ = PlannedWrite{client::CreateWrite{kinds::kReplicaSet, deployment_->name_space(),
                                             new_set(deployment_, name, replicas, next_revision())},
                         Code::AlreadyExists,
                         {},
                         EventNote{Type::Warning, "ReplicaSetCreateError",
                                   "Failed to create new replica set \"" + name + "\""}};
    if (replicas > 0) {
      made_->on_done =
          EventNote{Type::Normal, "ScalingReplicaSet",
                    "Scaled up replica set " + name + " from 0 to " + std::to_string(replicas)};
    }
  }

  // Old sets beyond the history that nothing runs of, the lowest revisions first.
  void clear_history() {
    std::vector<const SetPlan*> old;
    for (const SetPlan& plan : sets_) {
      if (&plan != newest_ && !plan.set->deletion()) old.push_back(&plan);
    }
    std::ranges::stable_sort(
        old, [](const SetPlan* a, const SetPlan* b) { return a->revision() < b->revision(); });
    const std::ptrdiff_t surplus = std::ssize(old) - deployment_.history_limit();
    for (std::ptrdiff_t i = 0; i < surplus; ++i) {
      const SetPlan& plan = *old[static_cast<std::size_t>(i)];
      const bool unseen = plan.set->generation() > plan.set.observed_generation();
      if (plan.set.actual() != 0 || plan.replicas != 0 || unseen) continue;
      client::DeleteWrite gone{kinds::kReplicaSet, plan.set->name_space(), plan.set->name(),
                               client::Propagation::Background};
      gone.only_uid = plan.set->uid();
      gone.only_if = plan.set->revision();
      removals_.push_back({std::move(gone), Code::NotFound, {}, {}});
    }
  }

  // The writes, and the status of what was seen. `rolling`: how the roll-out goes is judged too.
  void report(bool rolling) {
    std::vector<PlannedWrite> writes;
    for (const SetPlan& plan : sets_) {
      if (plan.changed()) writes.push_back(write_set(deployment_, plan));
    }
    annotate_deployment();
    DeploymentStatus status = DeploymentStatus::counted(deployment_, sets_, newest_, judged_);
    judge_availability(deployment_, status, now_);
    if (rolling) judge_progress(deployment_, sets_, newest_, before_, status, now_);
    if (status != before_) plan_.then(write_status(status));
    plan_.steps.push_back(std::move(writes));
    if (made_) plan_.then(*std::move(made_));
    plan_.steps.push_back(std::move(removals_));
    if (!rolling || deployment_->deletion()) return;
    if (const auto left = until_deadline(deployment_, status, now_))
      plan_.outcome = Outcome::requeue_after(std::max(*left, Duration(1ms)));
  }

  // The revision that is rolled out stands on the deployment, for `kubectl rollout history`.
  void annotate_deployment() {
    if (newest_ == nullptr || deployment_->deletion()) return;
    const auto revision = newest_->annotations.find(keys::kDeploymentRevision);
    if (revision == newest_->annotations.end() ||
        deployment_.annotation(keys::kDeploymentRevision) == revision->second)
      return;
    Json patch(boost::json::object_kind);
    set_path(patch, {"metadata", "annotations", keys::kDeploymentRevision}, Json(revision->second));
    plan_.then({client::PatchWrite{kinds::kDeployment, deployment_->name_space(),
                                   deployment_->name(), client::PatchType::Merge, std::move(patch)},
                Code::NotFound,
                {},
                {}});
  }

  PlannedWrite write_status(const DeploymentStatus& status) const {
    Json object = deployment_.document();
    set_path(object, {"status"}, status.to_json_object());
    erase_path(object, {"metadata", "resourceVersion"});  // the annotation may come before it
    return {client::UpdateWrite{kinds::kDeployment, deployment_->name_space(), deployment_->name(),
                                std::move(object), "status"},
            Code::NotFound,
            {},
            {}};
  }

  DeploymentSeen seen_;
  const DeploymentView deployment_;
  std::vector<SetPlan> sets_;
  SetPlan* newest_ = nullptr;
  WallTime now_;
  DeploymentStatus before_, judged_;  // as stored; with what this pass says of it
  std::optional<PlannedWrite> made_{};
  std::vector<PlannedWrite> removals_{};
  Plan plan_{};
};

}  // namespace

Plan deployment_step(DeploymentSeen seen, WallTime now) {
  return Pass(std::move(seen), now).run();
}

}  // namespace krater::controllers
