// What is allowed in a configuration but hardly meant.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/config.h"

namespace krater::scheduler {
namespace {

// The first tier in which anybody permits decides on admission: who permits before the plugin that
// knows the queues' limits is asked, and that plugin; "" when it is asked in time.
std::pair<std::string_view, std::string_view> who_hides_the_queues(const Config& config) {
  if (!config.has_action("enqueue")) return {};
  std::string_view permits;
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    for (const PluginChoice& choice : tier) {
      const bool of_queues = choice.name == "capacity" || choice.name == "proportion";
      if (of_queues && !permits.empty()) return {permits, choice.name};
      if (of_queues) return {};
    }
    for (const PluginChoice& choice : tier) {
      if ((choice.name == "overcommit" || choice.name == "resourcequota") &&
          choice.flags.on("enableJobEnqueued")) {
        permits = choice.name;
      }
    }
  }
  return {};
}

// Both order jobs, and `first` is asked before `second`.
bool comes_before(const Config& config, std::string_view first, std::string_view second) {
  bool seen = false;
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    for (const PluginChoice& choice : tier) {
      if (!choice.flags.on("enableJobOrder")) continue;
      if (choice.name == second) return seen;
      seen = seen || choice.name == first;
    }
  }
  return false;
}

// An action, the flag by which plugins have a say in it, and those that know who goes before whom.
struct Taking {
  std::string_view action, flag;
  std::array<std::string_view, 2> judges;
};
constexpr Taking kReclaim{"reclaim", "enableReclaimable", {"capacity", "proportion"}};
constexpr Taking kPreempt{"preempt", "enablePreemptable", {"priority", "drf"}};

// The judge, when `gang` is in its tier and has a say as well: both must agree, and gang never
// agrees that a whole gang goes. "" otherwise.
std::string_view kept_by_gang(const Config& config, const Taking& taking) {
  if (!config.has_action(taking.action)) return {};
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    bool gang = false;
    std::string_view judge;
    for (const PluginChoice& choice : tier) {
      if (!choice.flags.on(taking.flag)) continue;
      gang = gang || choice.name == "gang";
      if (std::find(taking.judges.begin(), taking.judges.end(), choice.name) != taking.judges.end())
        judge = choice.name;
    }
    if (gang && !judge.empty()) return judge;
  }
  return {};
}

// The first action that takes places from others, where a cluster that is full admits nobody for
// whom it could take them. "" otherwise.
std::string_view kept_from_asking(const Config& config) {
  const PluginChoice* budget = config.plugin("overcommit");
  if (!config.has_action("enqueue") || budget == nullptr ||
      config.behaviors.enqueue_beyond_free_room || config.behaviors.enqueue_counts_evictable ||
      !budget->flags.on("enableJobEnqueued"))
    return {};
  for (const std::string_view action : {"reclaim", "preempt", "gangreclaim", "gangpreempt"}) {
    if (config.has_action(action)) return action;
  }
  return {};
}

// Flags of what none of Volcano's own plugins does, and nothing here.
constexpr std::array<std::string_view, 4> kEmptyFlags{"enableBestNode", "enableReservedNodes",
                                                      "enableTargetJob", "enabledClusterOrder"};

// Who sets one of them to anything but what it is anyway.
void name_empty_flags(const Config& config, std::vector<std::string>& out) {
  for (const std::vector<PluginChoice>& tier : config.tiers) {
    for (const PluginChoice& choice : tier) {
      for (const std::string_view flag : kEmptyFlags) {
        if (choice.flags.on(flag) == EnableFlags().on(flag)) continue;
        out.push_back("plugin \"" + choice.name + "\": " + std::string(flag) +
                      " has no effect: there is nothing that it switches");
      }
    }
  }
}

}  // namespace

std::vector<std::string> pitfalls(const Config& config) {
  const auto has = [&](std::string_view name, std::string_view flag = "") {
    const PluginChoice* choice = config.plugin(name);
    return choice != nullptr && (flag.empty() || choice->flags.on(flag));
  };
  std::vector<std::string> out;
  if (!has("gang")) {
    out.push_back(
        "plugin \"gang\" is missing: jobs start in part, and wait for the rest with what they "
        "hold");
  }
  const bool taking_back =
      has("capacity", "enableReclaimable") || has("proportion", "enableReclaimable");
  if ((config.has_action("reclaim") || config.has_action("gangreclaim")) && !taking_back) {
    out.push_back(
        "action \"reclaim\" will evict nobody for a queue's share: neither \"capacity\" nor "
        "\"proportion\" is there to say what is whose");
  }
  if (config.has_action("preempt") && !has("priority", "enablePreemptable") &&
      !has("drf", "enablePreemptable")) {
    out.push_back(
        "action \"preempt\" will evict nobody: neither \"priority\" nor \"drf\" is there, with "
        "enablePreemptable, to say who goes before whom");
  }
  if (!config.has_action("allocate")) {
    out.push_back(
        "action \"allocate\" is missing: nothing but pods that ask for nothing is placed, and what "
        "others are evicted for waits for its room for ever");
  }
  for (const auto& [single, gang] :
       {std::pair("preempt", "gangpreempt"), std::pair("reclaim", "gangreclaim")}) {
    if (!config.has_action(single) || !config.has_action(gang)) continue;
    out.push_back("actions \"" + std::string(single) + "\" and \"" + gang +
                  "\" are both there: the second is meant instead of the first, which takes pod by "
                  "pod what the other would take for a whole gang");
  }
  if (const auto [permits, hidden] = who_hides_the_queues(config); !hidden.empty()) {
    out.push_back("plugin \"" + std::string(permits) + "\" is in a tier before \"" +
                  std::string(hidden) +
                  "\": whom it admits is admitted, and the limit of his queue is not looked at");
  }
  if (config.has_action("enqueue") && has("capacity") && !config.has_action("reclaim") &&
      !config.has_action("gangreclaim")) {
    out.push_back(
        "action \"reclaim\" is missing: a queue whose share others use waits at \"enqueue\" and "
        "\"allocate\" until they end");
  }
  if (const std::string_view action = kept_from_asking(config); !action.empty()) {
    out.push_back(
        "plugin \"overcommit\" admits nobody to a full cluster, as enqueueCountsEvictable is "
        "false: action \"" +
        std::string(action) + "\" has nobody to take places for");
  }
  if (const std::string_view judge = kept_by_gang(config, kPreempt); !judge.empty()) {
    out.push_back("plugins \"gang\" and \"" + std::string(judge) +
                  "\" are in one tier: \"preempt\" takes no gang as a whole, only what gangs have "
                  "beyond their minimum; set enablePreemptable: false of \"gang\"");
  }
  if (const std::string_view shares = kept_by_gang(config, kReclaim); !shares.empty()) {
    out.push_back("plugins \"gang\" and \"" + std::string(shares) +
                  "\" are in one tier: \"reclaim\" takes no gang as a whole, only what gangs have "
                  "beyond their minimum; put \"" +
                  std::string(shares) + "\" into a later tier");
  }
  if (comes_before(config, "drf", "fairshare")) {
    out.push_back(
        "plugin \"fairshare\" comes after \"drf\", which nearly always decides before it: what was "
        "used in the past will hardly count");
  }
  name_empty_flags(config, out);
  return out;
}

}  // namespace krater::scheduler
