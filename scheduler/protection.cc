#include "scheduler/protection.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "scheduler/eviction.h"

namespace krater::scheduler {
namespace {

// One plugin's answer to all candidates at once; nullopt: no opinion.
struct Asked {
  std::function<std::optional<TaskRefs>(const TaskRefs&)> ask;
  std::string_view keeps_as;  // "": it judges the claim, and protects nobody
};
using Tier = std::vector<Asked>;

template <typename Hook, typename Ask>
std::vector<Tier> tiers_of(const Tiered<Hook>& hooks, Ask ask) {
  std::vector<Tier> out;
  for (const auto& tier : hooks.tiers) {
    out.emplace_back();
    for (const Hook* hook : tier) {
      const auto* keeper = dynamic_cast<const KeeperHook*>(hook);
      out.back().push_back({[hook, ask](const TaskRefs& all) { return ask(*hook, all); },
                            keeper == nullptr ? std::string_view() : keeper->keeps_as()});
    }
  }
  return out;
}

std::vector<Tier> tiers_for(const Session& session, TaskRef claimant, Asking asking) {
  using Named = std::optional<TaskRefs>;
  const PluginSet& plugins = session.plugins();
  switch (asking) {
    case Asking::Preempting:
      return tiers_of(plugins.preemptable,
                      [&session, claimant](const PreemptableHook& hook, const TaskRefs& all) {
                        return hook.preemptable(session, claimant, all);
                      });
    case Asking::Reclaiming:
      return tiers_of(plugins.reclaimable,
                      [&session, claimant](const ReclaimableHook& hook, const TaskRefs& all) {
                        return hook.reclaimable(session, claimant, all);
                      });
    case Asking::GangPreempting:
    case Asking::GangReclaiming:
      break;
  }
  const bool across_queues = asking == Asking::GangReclaiming;
  return tiers_of(plugins.gang_evictable, [&session, claimant, across_queues](
                                              const GangEvictableHook& hook, const TaskRefs& all) {
    return Named(hook.gang_evictable(session, claimant, all, across_queues));
  });
}

// Leaves of `all` those that are named.
void narrow(TaskRefs& all, TaskRefs named) {
  std::sort(named.begin(), named.end());
  std::erase_if(all, [&](const TaskRef& one) {
    return !std::binary_search(named.begin(), named.end(), one);
  });
}

// Those whom nothing but their protection keeps, as the first tier with an opinion sees it; and who
// protects in it.
Tier judge(const std::vector<Tier>& tiers, TaskRefs& all) {
  for (const Tier& tier : tiers) {
    Tier keepers;
    bool heard = false;
    for (const Asked& one : tier) {
      if (!one.keeps_as.empty()) {
        keepers.push_back(one);
      } else if (auto named = one.ask(all)) {
        heard = true;
        narrow(all, *std::move(named));
      }
    }
    if (heard || !keepers.empty()) return keepers;
  }
  return {};
}

}  // namespace

bool lets_itself_go(const Session& session, TaskRef one) {
  return session.task(one).spec->preemptable && lets_go(session.job(one.job));
}

std::string who_is_kept(const Session& session, TaskRef claimant, const TaskRefs& candidates,
                        Asking asking) {
  TaskRefs all = candidates;
  std::sort(all.begin(), all.end(),
            [&, queue = session.queue_of(claimant.job)](TaskRef a, TaskRef b) {
              return session.leaves_before(a, b, queue);
            });
  const Tier keepers = judge(tiers_for(session, claimant, asking), all);
  const std::size_t useful = all.size();
  const bool groups_count = session.behaviors().groups_protect_pods ||
                            asking == Asking::GangPreempting || asking == Asking::GangReclaiming;
  std::map<std::string, std::size_t> kept;
  if (const std::size_t own = std::erase_if(all,
                                            [&](const TaskRef& one) {
                                              return groups_count
                                                         ? !lets_itself_go(session, one)
                                                         : !session.task(one).spec->preemptable;
                                            });
      own > 0) {
    kept["say so themselves (volcano.sh/preemptable)"] = own;
  }
  for (const Asked& keeper : keepers) {
    const std::size_t before = all.size();
    if (auto named = keeper.ask(all)) narrow(all, *std::move(named));
    if (before > all.size()) kept[std::string(keeper.keeps_as)] += before - all.size();
  }
  if (kept.empty()) return {};
  std::string out = std::to_string(useful - all.size()) + " of " + std::to_string(useful) +
                    " pods whose places it could use may not be evicted:";
  for (const auto& [why, count] : kept)
    out += (out.back() == ':' ? " " : ", ") + std::to_string(count) + " " + why;
  return out;
}

void tell_why_nobody_leaves(Session& session, JobId job, const std::string& words) {
  std::string& told = session.note(job).no_eviction;
  if (words.empty() || told.find(words) != std::string::npos) return;
  told += (told.empty() ? "" : "; ") + words;
}

}  // namespace krater::scheduler
