#include "scheduler/behaviors.h"

#include <algorithm>
#include <array>
#include <string>

namespace krater::scheduler {
namespace {

using B = Behaviors;

constexpr std::array kAll{
    BehaviorEntry{"completedGroupsStay", &B::completed_groups_stay},
    BehaviorEntry{"drfHonorsPriority", &B::drf_honors_priority},
    BehaviorEntry{"emptyIntersectionIsNobody", &B::empty_intersection_is_nobody},
    BehaviorEntry{"enqueueBeyondFreeRoom", &B::enqueue_beyond_free_room},
    BehaviorEntry{"enqueueCountsEvictable", &B::enqueue_counts_evictable},
    BehaviorEntry{"evictedGangsStayInqueue", &B::evicted_gangs_stay_inqueue},
    BehaviorEntry{"flawedQueuesStopAlone", &B::flawed_queues_stop_alone},
    BehaviorEntry{"fragmentedJobsReserveNothing", &B::fragmented_jobs_reserve_nothing},
    BehaviorEntry{"gangEvictionAsksEveryPlugin", &B::gang_eviction_asks_every_plugin},
    BehaviorEntry{"gangEvictionNearestFirst", &B::gang_eviction_nearest_first},
    BehaviorEntry{"groupsProtectPods", &B::groups_protect_pods},
    BehaviorEntry{"guaranteesStayFree", &B::guarantees_stay_free},
    BehaviorEntry{"guaranteesWithinCapability", &B::guarantees_within_capability},
    BehaviorEntry{"hollowGuaranteesReserveNothing", &B::hollow_guarantees_reserve_nothing},
    BehaviorEntry{"leastCostVictims", &B::least_cost_victims},
    BehaviorEntry{"lostMembersMayBeReplaced", &B::lost_members_may_be_replaced},
    BehaviorEntry{"nominatedRoomFirst", &B::nominated_room_first},
    BehaviorEntry{"pdbOnlyProtects", &B::pdb_only_protects},
    BehaviorEntry{"preemptWithinStandingGangs", &B::preempt_within_standing_gangs},
    BehaviorEntry{"reclaimAvoidsReturn", &B::reclaim_avoids_return},
    BehaviorEntry{"reclaimChecksPlacement", &B::reclaim_checks_placement},
    BehaviorEntry{"reclaimRechecksQueue", &B::reclaim_rechecks_queue},
    BehaviorEntry{"reclaimTakesBoundPods", &B::reclaim_takes_bound_pods},
    BehaviorEntry{"siblingGuaranteesReserved", &B::sibling_guarantees_reserved},
    BehaviorEntry{"slaHoldsRoom", &B::sla_holds_room},
    BehaviorEntry{"spareUnneededVictims", &B::spare_unneeded_victims},
    BehaviorEntry{"strictFifo", &B::strict_fifo},
    BehaviorEntry{"waitingMembersKeepGroupsRunning", &B::waiting_members_keep_groups_running},
    BehaviorEntry{"wholeGangEviction", &B::whole_gang_eviction},
    BehaviorEntry{"wholeSubGroupRoom", &B::whole_sub_group_room}};
static_assert(std::ranges::is_sorted(kAll, {}, &BehaviorEntry::name));
static_assert(sizeof(Behaviors) == kAll.size() * sizeof(bool), "a behavior without a name");

Error invalid(std::string message) {
  return make_error(Code::Invalid, std::move(message));
}

}  // namespace

std::span<const BehaviorEntry> all_behaviors() {
  return kAll;
}

Result<Behaviors> read_behaviors(const Json* given) {
  Behaviors out;
  if (given == nullptr || given->is_null()) return out;
  if (!given->is_object()) return invalid("behaviors: a map from name to true or false is wanted");
  for (const auto& member : given->get_object()) {
    const std::string_view name(member.key().data(), member.key().size());
    const auto place = std::ranges::lower_bound(kAll, name, {}, &BehaviorEntry::name);
    if (place == kAll.end() || place->name != name)
      return invalid("behaviors: unknown behavior \"" + std::string(name) + "\"");
    if (!member.value().is_bool())
      return invalid("behaviors: " + std::string(name) + " must be true or false");
    out.*place->field = member.value().get_bool();
  }
  return out;
}

}  // namespace krater::scheduler
