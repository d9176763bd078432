#include "controllers/apps/daemon_set_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "controllers/apps/daemon_placement.h"
#include "controllers/apps/pod_writes.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;
constexpr std::size_t kMaxChanges = 250;                     // of one pass
constexpr Duration kFailedPause = std::chrono::seconds(60);  // a failed daemon is seen that long

// A node, what is wanted of it and what is there. Pods that have ended are `ended`.
struct Place {
  std::string node;
  bool known = false;  // the node is there
  DaemonPlacement::Verdict verdict{};
  std::vector<const AppPod*> live{}, leaving{}, ended{};
};

class Pass {
 public:
  Pass(const DaemonSetSeen& seen, WallTime now)
      : seen_(seen),
        set_(seen.set),
        now_(now),
        revisions_seen_{set_, keys::kRevisionHash, seen.revisions,
                        {},   set_.collisions(),   seen.revision_taken},
        revisions_(choose_revisions(revisions_seen_)),
        template_(daemon_template(set_, set_.pod_template())) {
    const DaemonPlacement placement(template_);
    for (const NodeView& node : seen.nodes) {
      Place& place = places_[node->name()];
      place.node = node->name();
      place.known = true;
      place.verdict = placement.judge(node);
      wanted_ += place.verdict.run ? 1 : 0;
    }
    for (const AppPod& pod : seen.pods) {
      const std::string node = node_of_daemon(*pod.object->document());
      Place& place = places_[node];
      place.node = node;
      (pod.deleting ? place.leaving : pod.ended() ? place.ended : place.live).push_back(&pod);
    }
  }

  Plan run() && {
    if (revisions_.write) plan_.then(*revisions_.write);
    if (!set_->deletion()) {
      for (const auto& [node, place] : places_) keep(place);
      if (creations_.empty() && removals_.empty() && !set_.updates_on_delete()) {
        set_.max_surge(wanted_) > 0 ? update_by_surge() : update_in_place();
      }
    }
    write_status();
    plan_.steps.push_back(std::move(removals_));
    plan_.steps.push_back(std::move(creations_));
    if (!set_->deletion()) plan_.steps.push_back(surplus_revisions(revisions_seen_, live()));
    if (come_back_) plan_.outcome = Outcome::requeue_after(std::max(*come_back_, Duration(1ms)));
    return std::move(plan_);
  }

 private:
  bool updated(const AppPod& pod) const {
    return pod.object->label(keys::kRevisionHash) == revisions_.update.hash;
  }
  bool available(const AppPod& pod) const { return pod.available(set_.min_ready_s(), now_); }

  // One pod where one should run (two while it is surged), none elsewhere.
  void keep(const Place& place) {
    if (!place.verdict.keep) {
      // Pods of a node that is gone are collected with it; those without any node never run.
      for (const auto* group : {&place.live, &place.ended}) {
        for (const AppPod* pod : *group) remove(*pod);
      }
      return;
    }
    for (const AppPod* pod : place.ended) {
      const Duration left = since_end(*pod) + kFailedPause - now_;
      if (pod->phase == PodPhase::Failed && left > Duration(0)) {
        come_back_ = std::min(come_back_.value_or(left), left);
        continue;
      }
      const std::string phase(to_text(pod->phase));
      plan_.events.push_back(
          {pod->phase == PodPhase::Failed ? Type::Warning : Type::Normal,
           pod->phase == PodPhase::Failed ? "FailedDaemonPod" : "SucceededDaemonPod",
           "Found " + std::string(pod->phase == PodPhase::Failed ? "failed" : "succeeded") +
               " daemon pod " + pod->object->name_space() + "/" + pod->name() + " on node " +
               place.node + ", will try to " +
               (pod->phase == PodPhase::Failed ? "kill" : "delete") + " it"});
      remove(*pod);
    }
    if (place.live.empty() && place.leaving.empty() && place.ended.empty() && place.verdict.run)
      create(place.node);
    remove_surplus(place);
  }

  // The oldest of each version stays; with surge one of each, else one.
  void remove_surplus(const Place& place) {
    std::vector<const AppPod*> sorted = place.live;
    std::ranges::sort(sorted, [](const AppPod* a, const AppPod* b) {
      if (a->assigned != b->assigned) return a->assigned;
      return a->object->created() == b->object->created()
                 ? a->name() < b->name()
                 : a->object->created() < b->object->created();
    });
    const bool surge = set_.max_surge(wanted_) > 0;
    std::set<bool> seen;
    for (const AppPod* pod : sorted) {
      const bool first = surge ? seen.insert(updated(*pod)).second : pod == sorted.front();
      if (!first) remove(*pod);
    }
  }

  WallTime since_end(const AppPod& pod) const {
    const PodView view(pod.object);
    const auto ready = view.condition("Ready");
    if (ready && ready->last_transition) return *ready->last_transition;
    return pod.object->created().value_or(now_);
  }

  const AppPod* with_version(const Place& place, bool wanted) const {
    const auto found = std::ranges::find_if(
        place.live, [&](const AppPod* pod) { return updated(*pod) == wanted; });
    return found == place.live.end() ? nullptr : *found;
  }

  void update_in_place() {
    std::int64_t missing = 0;
    std::vector<const AppPod*> candidates;
    for (const auto& [node, place] : places_) {
      if (!place.verdict.run) continue;
      const AppPod* fresh = with_version(place, true);
      const AppPod* old = with_version(place, false);
      if (fresh != nullptr || old == nullptr) {
        missing += fresh == nullptr || !available(*fresh) ? 1 : 0;
      } else if (!available(*old)) {
        remove(*old);  // it is missing anyway
        ++missing;
      } else {
        candidates.push_back(old);
      }
    }
    for (const AppPod* pod : candidates) {
      if (missing >= set_.max_unavailable(wanted_)) break;
      remove(*pod);
      ++missing;
    }
  }

  void update_by_surge() {
    std::int64_t surged = 0;
    std::vector<const Place*> candidates;
    for (const auto& [node, place] : places_) {
      if (!place.verdict.run) continue;
      const AppPod* fresh = with_version(place, true);
      const AppPod* old = with_version(place, false);
      if (old == nullptr) continue;
      if (fresh == nullptr) {
        if (available(*old)) {
          candidates.push_back(&place);
        } else {
          create(place.node);  // its pod is missing anyway
        }
      } else if (available(*fresh)) {
        remove(*old);
      } else {
        ++surged;
      }
    }
    for (const Place* place : candidates) {
      if (surged >= set_.max_surge(wanted_)) break;
      create(place->node);
      ++surged;
    }
  }

  void create(const std::string& node) {
    if (creations_.size() >= kMaxChanges) return;
    const auto taken = [&](const std::string& name) {
      return chosen_.contains(name) || seen_.pod_taken(name);
    };
    const std::string name =
        derived_pod_name(*set_.object(), set_->revision().text() + "/" + node, taken);
    chosen_.insert(name);
    Json pod = pod_of_template(template_, *set_.object(), name);
    set_path(pod, {"metadata", "labels", keys::kRevisionHash}, Json(revisions_.update.hash));
    pin_to_node(pod, node);
    creations_.push_back(create_app_pod(*set_.object(), std::move(pod)));
  }

  void remove(const AppPod& pod) {
    if (removals_.size() < kMaxChanges) removals_.push_back(delete_app_pod(pod));
  }

  std::set<std::string> live() const {
    std::set<std::string> out{revisions_.update.name};
    for (const ObjectPtr& revision : seen_.revisions) {
      const std::string_view hash = revision->label(keys::kRevisionHash);
      const bool used = std::ranges::any_of(seen_.pods, [&](const AppPod& pod) {
        return pod.object->label(keys::kRevisionHash) == hash;
      });
      if (used) out.insert(revision->name());
    }
    return out;
  }

  void write_status() {
    std::int64_t current = 0, misplaced = 0, ready = 0, updated_now = 0, available_now = 0;
    std::vector<AppPod> ready_pods;
    for (const auto& [node, place] : places_) {
      const bool any = !place.live.empty() || !place.leaving.empty() || !place.ended.empty();
      if (place.known && !place.verdict.run) misplaced += any ? 1 : 0;
      if (!place.verdict.run) continue;
      current += any ? 1 : 0;
      const auto count = [&](const auto& holds) {
        return std::ranges::any_of(place.live, [&](const AppPod* pod) { return holds(*pod); }) ? 1
                                                                                               : 0;
      };
      ready += count([](const AppPod& pod) { return pod.ready(); });
      available_now += count([&](const AppPod& pod) { return available(pod); });
      updated_now += count([&](const AppPod& pod) { return updated(pod); });
    }
    if (const auto left = until_available(seen_.pods, set_.min_ready_s(), now_))
      come_back_ = std::min(come_back_.value_or(*left), *left);
    JsonObject status;
    status["currentNumberScheduled"] = current;
    status["numberMisscheduled"] = misplaced;
    status["desiredNumberScheduled"] = wanted_;
    status["numberReady"] = ready;
    const auto put = [&](std::string_view name, std::int64_t value) {
      if (value != 0) status[name] = value;
    };
    put("observedGeneration", set_->generation());
    put("updatedNumberScheduled", updated_now);
    put("numberAvailable", available_now);
    put("numberUnavailable", wanted_ - available_now);
    if (revisions_.collisions > 0) status["collisionCount"] = revisions_.collisions;
    const Json* before = find(set_.document(), {"status"});
    if (before != nullptr && *before == Json(status)) return;
    Json object = set_.document();
    set_path(object, {"status"}, std::move(status));
    plan_.then({client::UpdateWrite{kinds::kDaemonSet, set_->name_space(), set_->name(),
                                    std::move(object), "status"},
                {},
                {},
                {}});
  }

  const DaemonSetSeen& seen_;
  const DaemonSetView& set_;
  WallTime now_;
  RevisionsSeen revisions_seen_;
  Revisions revisions_;
  Json template_;
  std::map<std::string, Place, std::less<>> places_;  // by node; "": pods without any
  std::int64_t wanted_ = 0;                           // nodes that should have a pod
  std::set<std::string> chosen_{};
  std::vector<PlannedWrite> creations_{}, removals_{};
  std::optional<Duration> come_back_{};
  Plan plan_{};
};

}  // namespace

Plan daemon_set_step(const DaemonSetSeen& seen, WallTime now) {
  return Pass(seen, now).run();
}

}  // namespace krater::controllers
