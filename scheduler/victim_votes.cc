#include "scheduler/victim_votes.h"

#include <algorithm>

#include "base/check.h"

namespace krater::scheduler {
namespace {

// Every entry of the configuration makes one plugin, in its order.
template <typename Hook>
std::size_t place_in(const Session& session, const Hook& hook) {
  const auto& plugins = session.plugins().plugins;
  const auto place = std::find_if(plugins.begin(), plugins.end(), [&](const auto& plugin) {
    return dynamic_cast<const void*>(plugin.get()) == dynamic_cast<const void*>(&hook);
  });
  CHECK(place != plugins.end());
  return static_cast<std::size_t>(place - plugins.begin());
}

template <typename Hook, typename Ask>
std::vector<VoterTier> voters(const Session& session, const Tiered<Hook>& hooks, Ask ask) {
  std::vector<VoterTier> out;
  for (const auto& tier : hooks.tiers) {
    out.emplace_back();
    for (const Hook* hook : tier) {
      const auto* keeper = dynamic_cast<const KeeperHook*>(hook);
      out.back().push_back({place_in(session, *hook),
                            [hook, ask](const TaskRefs& all) { return ask(*hook, all); },
                            keeper == nullptr ? std::string_view() : keeper->keeps_as()});
    }
  }
  return out;
}

// The rule of Session, with the names: nullopt when the tier says nothing.
std::optional<PluginPlaces> decided_in(const VoterTier& tier, const TaskRefs& candidates) {
  PluginPlaces by;
  TaskRefs out;
  for (const VictimVoter& voter : tier) {
    const std::optional<TaskRefs> named = voter.ask(candidates);
    if (!named) continue;
    if (named->empty()) return std::nullopt;
    if (out.empty()) {
      by.clear();
      out = *named;
    } else {
      std::erase_if(out, [&](const TaskRef& one) {
        return std::find(named->begin(), named->end(), one) == named->end();
      });
    }
    by.insert(voter.place);
  }
  return out.empty() ? std::nullopt : std::optional(by);
}

}  // namespace

std::vector<VoterTier> victim_voters(const Session& session, TaskRef claimant, Asking asking) {
  const PluginSet& plugins = session.plugins();
  switch (asking) {
    case Asking::Preempting:
      return voters(session, plugins.preemptable,
                    [&session, claimant](const PreemptableHook& hook, const TaskRefs& all) {
                      return hook.preemptable(session, claimant, all);
                    });
    case Asking::Reclaiming:
      return voters(session, plugins.reclaimable,
                    [&session, claimant](const ReclaimableHook& hook, const TaskRefs& all) {
                      return hook.reclaimable(session, claimant, all);
                    });
    case Asking::GangPreempting:
    case Asking::GangReclaiming:
      break;
  }
  const bool across_queues = asking == Asking::GangReclaiming;
  return voters(
      session, plugins.gang_evictable,
      [&session, claimant, across_queues](const GangEvictableHook& hook, const TaskRefs& all) {
        return std::optional(hook.gang_evictable(session, claimant, all, across_queues));
      });
}

PluginPlaces offered_by(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                        Asking asking) {
  const std::vector<VoterTier> tiers = victim_voters(session, claimant, asking);
  const bool all_agreed = (asking == Asking::GangPreempting || asking == Asking::GangReclaiming) &&
                          session.behaviors().gang_eviction_asks_every_plugin;
  PluginPlaces out;
  for (const VoterTier& tier : tiers) {
    if (all_agreed) {
      for (const VictimVoter& voter : tier) out.insert(voter.place);
    } else if (const auto by = decided_in(tier, candidates)) {
      return *by;
    }
  }
  return out;
}

PluginPlaces place_of(const Session& session, const VictimTasksHook& hook) {
  return {place_in(session, hook)};
}

std::string names_of(const Config& config, const PluginPlaces& places) {
  std::string out;
  std::size_t place = 0;
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    for (const PluginChoice& choice : tier) {
      if (places.contains(place++)) out += (out.empty() ? "" : ", ") + choice.name;
    }
  }
  return out;
}

}  // namespace krater::scheduler
