#include "scheduler/protection.h"

#include <algorithm>
#include <map>

#include "scheduler/eviction.h"

namespace krater::scheduler {
namespace {

// Leaves of `all` those that are named.
void narrow(TaskRefs& all, TaskRefs named) {
  std::sort(named.begin(), named.end());
  std::erase_if(all, [&](const TaskRef& one) {
    return !std::binary_search(named.begin(), named.end(), one);
  });
}

// Those whom nothing but their protection keeps, as the first tier with an opinion sees it; and who
// protects in it.
VoterTier judge(const std::vector<VoterTier>& tiers, TaskRefs& all) {
  for (const VoterTier& tier : tiers) {
    VoterTier keepers;
    bool heard = false;
    for (const VictimVoter& one : tier) {
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
  const VoterTier keepers = judge(victim_voters(session, claimant, asking), all);
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
  for (const VictimVoter& keeper : keepers) {
    const std::size_t before = all.size();
    if (auto named = keeper.ask(all)) narrow(all, *std::move(named));
    if (before > all.size()) kept[std::string(keeper.keeps_as)] += before - all.size();
  }
  if (asking == Asking::Reclaiming) {
    const std::size_t before = all.size();
    all = session.without_return(claimant, std::move(all));
    if (before > all.size())
      kept["would come back at once, as their queue deserves some of what they hold"] =
          before - all.size();
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
