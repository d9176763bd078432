// Which plugins are asked whether somebody may be evicted, and which of them gave up those who then
// were: the answers of a tier decide, and who looks at an eviction wants to know whose they were.
// Pure.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

// Which way somebody was asked to leave.
enum class Asking { Preempting, Reclaiming, GangPreempting, GangReclaiming };

struct VictimVoter {
  std::size_t place = 0;  // of the plugin in the configuration, counted through all tiers
  // Its answer to all candidates at once; nullopt: no opinion.
  std::function<std::optional<TaskRefs>(const TaskRefs&)> ask{};
  std::string_view keeps_as{};  // "": it judges the claim, and protects nobody
};
using VoterTier = std::vector<VictimVoter>;

// All that have a say when the claimant needs room; one that is switched off has none.
std::vector<VoterTier> victim_voters(const Session& session, TaskRef claimant, Asking asking);

// Those who decided who of `candidates` goes, in the tier that counted: asked anew, as things
// stand.
PluginPlaces offered_by(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                        Asking asking);

// Where the plugin stands that serves this hook.
PluginPlaces place_of(const Session& session, const VictimTasksHook& hook);

// "gang, capacity"
std::string names_of(const Config& config, const PluginPlaces& places);

}  // namespace krater::scheduler
