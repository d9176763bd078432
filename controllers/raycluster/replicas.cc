#include "controllers/raycluster/replicas.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "controllers/raycluster/cluster_seen.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

constexpr Duration kLongestWait = 300s;
constexpr Duration kLivedWell = 600s;
constexpr std::int64_t kMaxAdditions = 500;  // pods of one pass; those that come wake the next one

struct Replica {
  std::vector<PodView> pods;
  std::int64_t index = 0;

  bool failed() const { return std::ranges::any_of(pods, is_unhealthy); }
  bool going() const {
    return std::ranges::any_of(pods, [](const PodView& pod) { return pod.deleting(); });
  }
  bool up() const { return std::ranges::all_of(pods, is_up); }
};

std::int64_t label_number(const PodView& pod, std::string_view key) {
  return parse_int(pod->label(key)).value_or(-1);
}

std::vector<Replica> group_by_replica(const std::vector<PodView>& pods, std::int64_t hosts) {
  std::map<std::string, Replica> by_name;
  for (const PodView& pod : pods) {
    const std::string name(hosts > 1 ? pod->label(ray_keys::kReplicaName)
                                     : std::string_view(pod->name()));
    if (name.empty()) continue;  // made by a version that did not name replicas
    Replica& replica = by_name[name];
    replica.pods.push_back(pod);
    replica.index = label_number(pod, ray_keys::kReplicaIndex);
  }
  std::vector<Replica> out;
  for (auto& [name, replica] : by_name) out.push_back(std::move(replica));
  return out;
}

WallTime ended_at(const PodView& pod) {
  std::optional<WallTime> latest;
  const auto take = [&latest](std::optional<WallTime> time) {
    if (time && (!latest || *time > *latest)) latest = time;
  };
  for (const auto& statuses : {pod.container_statuses(), pod.init_container_statuses()}) {
    for (const ContainerStatus& status : statuses) {
      if (status.exit) take(status.exit->finished);
    }
  }
  if (!latest) {
    for (const Condition& condition : pod.conditions()) take(condition.last_transition);
  }
  return latest.value_or(pod->created().value_or(WallTime()));
}

// Failed ones in a row, this one not counted.
std::int64_t replacements_before(const PodView& pod) {
  const WallTime born = pod->created().value_or(WallTime());
  if (ended_at(pod) - born >= kLivedWell) return 0;
  return std::max<std::int64_t>(0, parse_int(pod.annotation(ray_keys::kReplacements)).value_or(0));
}

Duration wait_before_replacing(std::int64_t replacements) {
  if (replacements == 0) return 0s;
  return std::min<Duration>(
      kLongestWait,
      std::chrono::seconds(std::int64_t{1} << std::min<std::int64_t>(replacements, 10)));
}

// Surplus to give up first: what does not run yet, then the youngest place.
bool gives_way_before(const Replica& a, const Replica& b) {
  if (a.up() != b.up()) return !a.up();
  return a.index > b.index;
}

class Planner {
 public:
  Planner(const ReplicaWish& wish, WallTime now) : wish_(wish), now_(now) {}

  void sort_out(std::vector<Replica> replicas) {
    for (Replica& replica : replicas) {
      if (replica.failed()) {
        failed(replica);
      } else if (replica.going()) {
        ++leaving_;
        used_.insert(replica.index);
        remove(replica);  // what of it is not going yet
      } else if (static_cast<std::int64_t>(replica.pods.size()) < wish_.hosts ||
                 named_away(replica)) {
        ++leaving_;
        used_.insert(replica.index);
        remove(replica);
      } else {
        used_.insert(replica.index);
        kept_.push_back(std::move(replica));
      }
    }
  }

  ReplicaChanges finish() {
    const auto alive = static_cast<std::int64_t>(kept_.size());
    if (wish_.trim && alive > wish_.replicas) {
      std::ranges::stable_sort(kept_, gives_way_before);
      for (std::int64_t i = 0; i < alive - wish_.replicas; ++i)
        remove(kept_[static_cast<std::size_t>(i)]);
    }
    const std::int64_t at_once =
        std::max<std::int64_t>(1, kMaxAdditions / std::max<std::int64_t>(1, wish_.hosts));
    std::int64_t missing = std::min(wish_.replicas - alive - leaving_ - waiting_, at_once);
    std::ranges::sort(due_);
    for (std::int64_t next = 0; missing > 0; ++next) {
      if (used_.contains(next)) continue;
      NewReplica add{next, 0};
      if (!due_.empty()) {
        add.replacements = due_.back() + 1;
        due_.pop_back();
      }
      out_.add.push_back(add);
      --missing;
    }
    return std::move(out_);
  }

 private:
  // Gone as soon as its wait is over; until then it keeps its place, afterwards it counts no more.
  void failed(const Replica& replica) {
    std::int64_t replacements = 0;
    WallTime when;
    for (const PodView& pod : replica.pods) {
      replacements = std::max(replacements, replacements_before(pod));
      if (is_unhealthy(pod)) when = std::max(when, ended_at(pod));
    }
    if (replica.going()) return remove(replica);
    const Duration left = when + wait_before_replacing(replacements) - now_;
    if (left > 0s) {
      ++waiting_;
      used_.insert(replica.index);
      out_.look_again = out_.look_again ? std::min(*out_.look_again, left) : left;
      return;
    }
    due_.push_back(replacements);
    remove(replica);
  }

  void remove(const Replica& replica) {
    for (const PodView& pod : replica.pods) {
      if (!pod.deleting()) out_.remove.push_back(pod);
    }
  }

  bool named_away(const Replica& replica) const {
    return std::ranges::any_of(replica.pods, [this](const PodView& pod) {
      return wish_.named_away.contains(pod->name());
    });
  }

  const ReplicaWish& wish_;
  WallTime now_;
  std::vector<Replica> kept_;
  std::vector<std::int64_t> due_;
  std::set<std::int64_t> used_;
  std::int64_t leaving_ = 0, waiting_ = 0;
  ReplicaChanges out_;
};

}  // namespace

ReplicaChanges plan_replicas(const ReplicaWish& wish, const std::vector<PodView>& pods,
                             WallTime now) {
  Planner planner(wish, now);
  planner.sort_out(group_by_replica(pods, wish.hosts));
  return planner.finish();
}

}  // namespace krater::controllers
