// The only list of actions.
#include <algorithm>
#include <array>

#include "scheduler/actions/allocate.h"
#include "scheduler/actions/backfill.h"
#include "scheduler/actions/enqueue.h"
#include "scheduler/actions/gang_evict.h"
#include "scheduler/actions/preempt.h"
#include "scheduler/actions/reclaim.h"
#include "scheduler/actions/shuffle.h"
#include "scheduler/config.h"

namespace krater::scheduler {
namespace {

// How upstream bounds its search for nodes and shares answers; nothing here needs to be told.
constexpr std::array<std::string_view, 1> kAllocateArguments{"predicateErrorCacheEnable"};
constexpr std::array<std::string_view, 6> kPreemptArguments{
    "enableTopologyAwarePreemption", "maxCandidateNodesAbsolute", "minCandidateNodesAbsolute",
    "minCandidateNodesPercentage",   "predicateErrorCacheEnable", "topologyAwarePreemptWorkerNum"};

constexpr std::array<std::string_view, 3> kGangArguments{"allowWholeBundle", "maxDomains",
                                                         "victimOrder"};

constexpr std::array kActions{ActionEntry{"allocate", allocate, kAllocateArguments},
                              ActionEntry{"backfill", backfill, kAllocateArguments},
                              ActionEntry{"enqueue", enqueue, {}},
                              ActionEntry{"gangpreempt", gang_preempt, kGangArguments},
                              ActionEntry{"gangreclaim", gang_reclaim, kGangArguments},
                              ActionEntry{"preempt", preempt, kPreemptArguments},
                              ActionEntry{"reclaim", reclaim, kAllocateArguments},
                              ActionEntry{"shuffle", shuffle, {}}};
static_assert(std::ranges::is_sorted(kActions, {}, &ActionEntry::name));

}  // namespace

const ActionEntry* find_action(std::string_view name) {
  const auto place = std::ranges::lower_bound(kActions, name, {}, &ActionEntry::name);
  return place != kActions.end() && place->name == name ? &*place : nullptr;
}

}  // namespace krater::scheduler
