// What this scheduler does better than Volcano, each with a switch: the key `behaviors` of the
// scheduler's configuration, a map from name to true or false, which Volcano does not look at. The
// defaults are ours; with the opposite it is as in Volcano (volcano.md 2 to 4), to the letter.
// docs/compatibility.md names the switch beside each difference.
#pragma once

#include <span>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace krater::scheduler {

struct Behaviors {
  // Admission.
  bool enqueue_counts_evictable = true;   // off: who could be made to leave fills the budget
  bool enqueue_beyond_free_room = false;  // on: only the queues' own capability keeps jobs out
  bool strict_fifo = true;                // off: dequeueStrategy is not looked at
  bool sla_holds_room = true;             // off: sla admits, and nothing is held
  bool fragmented_jobs_reserve_nothing = true;
  bool completed_groups_stay = true;  // off: Pending again when their pods are cleared away
  bool waiting_members_keep_groups_running = true;  // off: Completed beside members that wait
  // Queues.
  bool sibling_guarantees_reserved = true;  // off: in a tree a root without limit reserves nothing
  bool guarantees_stay_free = true;         // off: each borrower is only kept from his own limit
  bool guarantees_within_capability = true;
  bool hollow_guarantees_reserve_nothing = true;  // off: what no cluster has is kept free as well
  bool flawed_queues_stop_alone = true;           // off: one flaw in the tree stops every queue
  // Who goes, for whom.
  // off: reclaim's first node, preempt's best for the newcomer, gangreclaim's most for what is lost
  bool least_cost_victims = true;
  bool spare_unneeded_victims = true;
  bool whole_gang_eviction = true;  // off: preempt, reclaim and shuffle take single pods
  bool whole_sub_group_room = true;
  bool nominated_room_first = true;           // off: whoever's turn it is may take what was freed
  bool lost_members_may_be_replaced = true;   // off: a gang is Unknown the moment it lacks one
  bool evicted_gangs_stay_inqueue = true;     // off: Pending
  bool groups_protect_pods = true;            // off: preempt, reclaim and shuffle ask the pod alone
  bool empty_intersection_is_nobody = false;  // off: the next plugin of the tier starts it anew
  bool preempt_within_standing_gangs = true;  // off: within a job whatever the gang's state
  bool reclaim_rechecks_queue = true;         // off: a queue's excess is looked at once
  bool reclaim_checks_placement = true;       // off: amounts only
  bool reclaim_avoids_return = true;          // off: what would be taken back at once is taken too
  bool reclaim_takes_bound_pods = true;
  bool drf_honors_priority = true;
  bool pdb_only_protects = true;  // off: pods without labels never go, and shuffle takes all it may
  bool gang_eviction_asks_every_plugin = true;  // off: the first tier that names somebody decides
  bool gang_eviction_nearest_first = true;      // off: the widest domain first
};

struct BehaviorEntry {
  std::string_view name;
  bool Behaviors::*field;
};
// All of them, by name.
std::span<const BehaviorEntry> all_behaviors();

// Of what stands at `behaviors`; null: the defaults. Errors name the culprit.
Result<Behaviors> read_behaviors(const Json* given);

}  // namespace krater::scheduler
