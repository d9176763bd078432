#include "controllers/apps/stateful_set_step.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/strings.h"
#include "controllers/apps/pod_writes.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

constexpr std::size_t kMaxChanges = 500;  // of one pass; the pods that come wake the next one

struct Member {
  AppPod pod;
  std::int64_t ordinal = 0;

  std::string_view revision() const { return pod.object->label(keys::kRevisionHash); }
  bool runs() const { return pod.phase == PodPhase::Running && pod.ready(); }
  bool healthy() const { return runs() && !pod.deleting; }
};

class Pass {
 public:
  Pass(const StatefulSetSeen& seen, WallTime now)
      : seen_(seen),
        set_(seen.set),
        now_(now),
        revisions_seen_{set_,
                        keys::kRevisionObjectHash,
                        seen.revisions,
                        set_.current_revision(),
                        set_.collisions(),
                        seen.revision_taken},
        revisions_(choose_revisions(revisions_seen_)) {
    const std::int64_t end = set_.first_ordinal() + set_.replicas();
    for (const AppPod& pod : seen.pods) {
      const auto ordinal = ordinal_of(set_->name(), pod.name());
      if (!ordinal) continue;
      const bool wanted = *ordinal >= set_.first_ordinal() && *ordinal < end;
      (wanted ? members_ : condemned_).emplace(*ordinal, Member{pod, *ordinal});
    }
    find_first_unhealthy();
  }

  Plan run() && {
    if (revisions_.write) plan_.then(*revisions_.write);
    if (!set_->deletion()) {
      keep_claims();
      if (keep_members() && remove_condemned()) update();
    }
    write_status();
    plan_.steps.push_back(std::move(claims_));
    plan_.steps.push_back(std::move(writes_));
    if (!set_->deletion()) plan_.steps.push_back(surplus_revisions(revisions_seen_, live()));
    if (const auto left = until_available(seen_.pods, set_.min_ready_s(), now_))
      plan_.outcome = Outcome::requeue_after(std::max(*left, Duration(1ms)));
    return std::move(plan_);
  }

 private:
  bool available(const Member& member) const {
    return member.runs() && member.pod.available(set_.min_ready_s(), now_);
  }

  void find_first_unhealthy() {
    for (const auto& [ordinal, member] : members_) {
      if (first_unhealthy_ == nullptr && !member.healthy()) first_unhealthy_ = &member;
    }
    for (const auto& [ordinal, member] : condemned_) {
      if (first_unhealthy_ == nullptr && !member.healthy()) first_unhealthy_ = &member;
    }
  }

  // A pod's claims are there before it, and known to go with it before it goes.
  void keep_claims() {
    for (const auto* group : {&members_, &condemned_}) {
      for (const auto& [ordinal, member] : *group) {
        add_claims(
            own_claims(set_, ordinal, *member.pod.object, group == &condemned_, seen_.find_claim));
      }
    }
  }

  void add_claims(std::vector<PlannedWrite> more) {
    claims_.insert(claims_.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  }

  // False: an ordered set waits.
  bool keep_members() {
    const std::int64_t first = set_.first_ordinal();
    bool all_there = true;
    for (std::int64_t ordinal = first; ordinal < first + set_.replicas(); ++ordinal) {
      const auto place = members_.find(ordinal);
      if (place == members_.end()) {
        if (writes_.size() >= kMaxChanges) return false;
        create(ordinal);
        all_there = false;
        if (set_.ordered()) return false;
        continue;
      }
      const Member& member = place->second;
      if (member.pod.ended()) {
        if (!member.pod.deleting) remove(member);  // made anew when it is gone
        all_there = false;
        if (set_.ordered()) return false;
        continue;
      }
      if (set_.ordered() && (member.pod.deleting || !available(member))) return false;
    }
    return all_there;
  }

  bool remove_condemned() {
    for (auto at = condemned_.rbegin(); at != condemned_.rend(); ++at) {
      const Member& member = at->second;
      if (!set_.ordered()) {
        if (!member.pod.deleting && writes_.size() < kMaxChanges) remove(member);
        continue;
      }
      if (member.pod.deleting) return false;
      if (!available(member) && &member != first_unhealthy_) return false;
      remove(member);
      return false;
    }
    return condemned_.empty() || !set_.ordered();
  }

  void update() {
    if (set_.updates_on_delete()) return;
    for (auto at = members_.rbegin(); at != members_.rend(); ++at) {
      const Member& member = at->second;
      if (member.ordinal < set_.first_ordinal() + set_.partition()) return;
      if (member.revision() != revisions_.update.name && !member.pod.deleting)
        return remove(member);
      if (!member.healthy() || !available(member)) return;
    }
  }

  // Below the partition, and while the update has not come down to it, a pod gets the version in
  // force.
  const TemplateRevision& revision_for(std::int64_t ordinal) const {
    const bool keeps =
        !set_.updates_on_delete() && ordinal < set_.first_ordinal() + set_.partition();
    return keeps ? revisions_.current : revisions_.update;
  }

  void create(std::int64_t ordinal) {
    const TemplateRevision& revision = revision_for(ordinal);
    const std::string name = set_->name() + "-" + std::to_string(ordinal);
    Json pod = pod_of_template(revision.pod_template, *set_.object(), name);
    set_path(pod, {"metadata", "labels", keys::kStatefulSetPodName}, Json(name));
    set_path(pod, {"metadata", "labels", keys::kPodIndex}, Json(std::to_string(ordinal)));
    set_path(pod, {"metadata", "labels", keys::kRevisionHash}, Json(revision.name));
    set_path(pod, {"spec", "hostname"}, Json(name));
    if (!set_.service_name().empty())
      set_path(pod, {"spec", "subdomain"}, Json(set_.service_name()));
    add_claims(missing_claims(set_, ordinal, seen_.find_claim));
    mount_claims(set_, ordinal, pod);
    PlannedWrite write = create_app_pod(*set_.object(), std::move(pod));
    // A pod of that name that is somebody else's stands in the way and is told of, at each retry.
    write.fine_if.reset();
    write.on_done = told(Type::Normal, "SuccessfulCreate", "create Pod " + name, "successful");
    write.on_failed = told(Type::Warning, "FailedCreate", "create Pod " + name, "failed error");
    writes_.push_back(std::move(write));
  }

  void remove(const Member& member) {
    PlannedWrite write = delete_app_pod(member.pod);
    const std::string& name = member.pod.name();
    write.on_done = told(Type::Normal, "SuccessfulDelete", "delete Pod " + name, "successful");
    write.on_failed = told(Type::Warning, "FailedDelete", "delete Pod " + name, "failed error");
    writes_.push_back(std::move(write));
  }

  EventNote told(Type type, std::string_view reason, const std::string& what,
                 std::string_view how) const {
    return {type, std::string(reason),
            what + " in StatefulSet " + set_->name() + " " + std::string(how)};
  }

  std::set<std::string> live() const {
    std::set<std::string> out{revisions_.update.name, revisions_.current.name};
    for (const auto* group : {&members_, &condemned_}) {
      for (const auto& [ordinal, member] : *group) out.emplace(member.revision());
    }
    return out;
  }

  void write_status() {
    std::int64_t replicas = 0, ready = 0, available_now = 0, current = 0, updated = 0;
    for (const auto* group : {&members_, &condemned_}) {
      for (const auto& [ordinal, member] : *group) {
        ++replicas;
        ready += member.runs() ? 1 : 0;
        available_now += available(member) ? 1 : 0;
        if (member.pod.deleting) continue;
        current += member.revision() == revisions_.current.name ? 1 : 0;
        updated += member.revision() == revisions_.update.name ? 1 : 0;
      }
    }
    std::string current_name = revisions_.current.name;
    if (!set_.updates_on_delete() && updated == replicas && ready == replicas) {
      current = updated;
      current_name = revisions_.update.name;
    }
    JsonObject status;
    const auto put = [&](std::string_view name, std::int64_t value) {
      if (value != 0) status[name] = value;
    };
    put("observedGeneration", set_->generation());
    status["replicas"] = replicas;
    put("readyReplicas", ready);
    put("currentReplicas", current);
    put("updatedReplicas", updated);
    status["currentRevision"] = current_name;
    status["updateRevision"] = revisions_.update.name;
    status["collisionCount"] = revisions_.collisions;
    status["availableReplicas"] = available_now;
    const Json* before = find(set_.document(), {"status"});
    if (before != nullptr && *before == Json(status)) return;
    Json object = set_.document();
    set_path(object, {"status"}, std::move(status));
    plan_.then({client::UpdateWrite{kinds::kStatefulSet, set_->name_space(), set_->name(),
                                    std::move(object), "status"},
                {},
                {},
                {}});
  }

  const StatefulSetSeen& seen_;
  const StatefulSetView& set_;
  WallTime now_;
  RevisionsSeen revisions_seen_;
  Revisions revisions_;
  std::map<std::int64_t, Member> members_, condemned_;
  const Member* first_unhealthy_ = nullptr;
  std::vector<PlannedWrite> claims_{}, writes_{};
  Plan plan_{};
};

}  // namespace

std::optional<std::int64_t> ordinal_of(std::string_view set, std::string_view pod) {
  if (pod.size() < set.size() + 2 || !pod.starts_with(set) || pod[set.size()] != '-')
    return std::nullopt;
  const auto ordinal = parse_int(pod.substr(set.size() + 1));
  return ordinal && *ordinal >= 0 ? ordinal : std::nullopt;
}

Plan stateful_set_step(const StatefulSetSeen& seen, WallTime now) {
  return Pass(seen, now).run();
}

}  // namespace krater::controllers
