// Which pods of one group to delete and which to make. One planner for the head, for workers, and
// for replicas of several hosts: a replica is a set of pods that live and go together. Pure.
//
// What always holds: there are never more living pods than the larger of what was and what is
// wanted; a pod that is already going is not deleted twice; a replica is made whole or not at all;
// a pod that failed is followed by another after 0, 2, 4, 8 … 300 seconds, and starts that count
// anew once one has lived for ten minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/pod.h"

namespace krater::controllers {

struct ReplicaWish {
  std::int64_t replicas = 0;
  std::int64_t hosts = 1;
  std::set<std::string> named_away{};  // workersToDelete
  bool trim = true;                    // false: only the autoscaler removes pods
};

struct NewReplica {
  std::int64_t index = 0;
  std::int64_t replacements = 0;  // failed ones in a row that it follows
};

struct ReplicaChanges {
  std::vector<PodView> remove{};
  std::vector<NewReplica> add{};
  std::optional<Duration> look_again{};  // when the next failed pod may be replaced
};

ReplicaChanges plan_replicas(const ReplicaWish& wish, const std::vector<PodView>& pods,
                             WallTime now);

}  // namespace krater::controllers
