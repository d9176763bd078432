// The plugins of one session, each hook's list in tier order. Which hooks a plugin serves is what
// its class inherits; the configuration's enable flags take single ones away.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/fairshare_rules.h"
#include "scheduler/hooks.h"
#include "scheduler/neighbours.h"

namespace krater::scheduler {

// The enable flags of one plugin entry by their literal YAML names. Unset is true but for two.
class EnableFlags {
 public:
  void set(std::string name, bool on) { given_[std::move(name)] = on; }
  bool on(std::string_view name) const;
  static bool known(std::string_view name);

 private:
  std::map<std::string, bool, std::less<>> given_;
};

template <typename Hook>
struct Tiered {
  std::vector<std::vector<Hook*>> tiers{};
  bool empty() const {
    for (const auto& tier : tiers) {
      if (!tier.empty()) return false;
    }
    return true;
  }
};

class PluginSet {
 public:
  void start_tier() {
    start_tier_of(job_order), start_tier_of(queue_order), start_tier_of(task_order),
        start_tier_of(job_valid), start_tier_of(job_ready), start_tier_of(job_pipelined),
        start_tier_of(enqueue), start_tier_of(allocatable), start_tier_of(overused),
        start_tier_of(filter), start_tier_of(score), start_tier_of(job_starving),
        start_tier_of(preemptable), start_tier_of(reclaimable), start_tier_of(returns),
        start_tier_of(preemptive), start_tier_of(victim_queue_order), start_tier_of(freeable),
        start_tier_of(why), start_tier_of(overdue), start_tier_of(eviction_guard),
        start_tier_of(task_filter), start_tier_of(task_score), start_tier_of(gang_evictable),
        start_tier_of(victim_tasks), start_tier_of(bind_notes), start_tier_of(domains),
        start_tier_of(sub_group_order), start_tier_of(sub_group_ready),
        start_tier_of(sub_group_pipelined);
  }

  template <typename P>
  void add(std::unique_ptr<P> plugin, const EnableFlags& flags) {
    join(job_order, *plugin, flags, "enableJobOrder");
    join(queue_order, *plugin, flags, "enableQueueOrder");
    join(task_order, *plugin, flags, "enableTaskOrder");
    join(job_valid, *plugin, flags, "");
    join(job_ready, *plugin, flags, "enableJobReady");
    join(job_pipelined, *plugin, flags, "enableJobPipelined");
    join(enqueue, *plugin, flags, "enableJobEnqueued");
    join(allocatable, *plugin, flags, "enabledAllocatable");
    join(overused, *plugin, flags, "enabledOverused");
    join(filter, *plugin, flags, "enablePredicate");
    join(score, *plugin, flags, "enableNodeOrder");
    join(job_starving, *plugin, flags, "enableJobStarving");
    join(preemptable, *plugin, flags, "enablePreemptable");
    join(reclaimable, *plugin, flags, "enableReclaimable");
    join(returns, *plugin, flags, "");
    join(preemptive, *plugin, flags, "enablePreemptive");
    join(victim_queue_order, *plugin, flags, "");
    join(freeable, *plugin, flags, "enableReclaimable");
    join(why, *plugin, flags, "");
    join(overdue, *plugin, flags, "enableJobPipelined");
    join(eviction_guard, *plugin, flags, "");
    join(task_filter, *plugin, flags, "enablePredicate");
    join(task_score, *plugin, flags, "enableNodeOrder");
    join(gang_evictable, *plugin, flags, "");
    join(victim_tasks, *plugin, flags, "enabledVictim");
    join(bind_notes, *plugin, flags, "enablePredicate");
    join(domains, *plugin, flags, "enabledHyperNodeGradient");
    join(sub_group_order, *plugin, flags, "enabledSubJobOrder");
    join(sub_group_ready, *plugin, flags, "enabledSubJobReady");
    join(sub_group_pipelined, *plugin, flags, "enabledSubJobPipelined");
    plugins.push_back(std::move(plugin));
  }

  std::vector<std::unique_ptr<Plugin>> plugins{};
  NeighbourRules neighbours{};  // set by predicates and nodeorder
  // Set by fairshare: whoever counts usage from session to session goes by them.
  std::shared_ptr<const FairshareRules> fairshare{};
  Tiered<JobOrderHook> job_order{};
  Tiered<QueueOrderHook> queue_order{};
  Tiered<TaskOrderHook> task_order{};
  Tiered<JobValidHook> job_valid{};
  Tiered<JobReadyHook> job_ready{};
  Tiered<JobPipelinedHook> job_pipelined{};
  Tiered<EnqueueHook> enqueue{};
  Tiered<AllocatableHook> allocatable{};
  Tiered<OverusedHook> overused{};
  Tiered<FilterHook> filter{};
  Tiered<ScoreHook> score{};
  Tiered<JobStarvingHook> job_starving{};
  Tiered<PreemptableHook> preemptable{};
  Tiered<ReclaimableHook> reclaimable{};
  Tiered<ReturnHook> returns{};
  Tiered<PreemptiveHook> preemptive{};
  Tiered<VictimQueueOrderHook> victim_queue_order{};
  Tiered<FreeableHook> freeable{};
  Tiered<WhyHook> why{};
  Tiered<OverdueHook> overdue{};
  Tiered<EvictionGuardHook> eviction_guard{};
  Tiered<TaskFilterHook> task_filter{};
  Tiered<TaskScoreHook> task_score{};
  Tiered<GangEvictableHook> gang_evictable{};
  Tiered<VictimTasksHook> victim_tasks{};
  Tiered<BindNotesHook> bind_notes{};
  Tiered<DomainHook> domains{};
  Tiered<SubGroupOrderHook> sub_group_order{};
  Tiered<SubGroupReadyHook> sub_group_ready{};
  Tiered<SubGroupPipelinedHook> sub_group_pipelined{};

 private:
  template <typename Hook>
  static void start_tier_of(Tiered<Hook>& hooks) {
    hooks.tiers.emplace_back();
  }
  template <typename Hook, typename P>
  static void join(Tiered<Hook>& hooks, P& plugin, const EnableFlags& flags,
                   std::string_view flag) {
    if constexpr (std::is_base_of_v<Hook, P>) {
      if (flag.empty() || flags.on(flag)) hooks.tiers.back().push_back(&plugin);
    }
  }
};

}  // namespace krater::scheduler
