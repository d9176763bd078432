#include "controllers/vcjob/choice.h"

#include <algorithm>

#include "controllers/vcjob/needs.h"
#include "controllers/vcjob/tally.h"

namespace krater::controllers::vcjob {
namespace {

class Chooser {
 public:
  Chooser(const Observed& seen, WallTime now) : seen_(seen), now_(now) {}

  enum class Fate { Nothing, Waits, Chosen };
  Fate consider(const Occurrence& occurrence) {
    const Answer answer = answer_to(occurrence, seen_);
    const auto reaction = reaction_to(answer.action, *seen_.status.phase);
    if (!reaction || outlived(occurrence, answer) || is_mistaken(occurrence) ||
        comes_too_late(occurrence))
      return Fate::Nothing;
    const Duration left = occurrence.since.value_or(now_) + answer.delay - now_;
    if (answer.delay > Duration(0) && left > Duration(0)) {
      out.delayed.push_back({occurrence, answer});
      out.come_back = std::min(out.come_back.value_or(left), left);
      return Fate::Waits;
    }
    Chosen chosen{answer.action, *reaction, occurrence};
    if (reaction->scope == Scope::Target && targets_of(chosen, seen_).empty() &&
        (seen_.status.phase == VolcanoJobPhase::Restarting || needs_pod(answer.action, occurrence)))
      return Fate::Nothing;
    out.chosen = std::move(chosen);
    return Fate::Chosen;
  }

  Choice out;

 private:
  // A delayed answer is void when what it answers has been put right in the meantime.
  bool outlived(const Occurrence& occurrence, const Answer& answer) const {
    if (answer.delay == Duration(0)) return false;
    if (occurrence.event == VolcanoEvent::Unknown)
      return !seen_.group || seen_.group.phase() != PodGroupPhase::Unknown;
    if (occurrence.event != VolcanoEvent::PodEvicted) return false;
    return std::ranges::any_of(seen_.pods, [&](const PodFact& pod) {
      return pod.name() == occurrence.pod && pod.phase == PodPhase::Running;
    });
  }

  // Whoever schedules may miss a pod that has succeeded and was then cleaned up; nothing is lost.
  bool is_mistaken(const Occurrence& occurrence) const {
    return occurrence.event == VolcanoEvent::Unknown && is_whole(seen_);
  }

  // Pods may be seen to end at once; one by one, the job had been completed before the last of
  // them.
  bool comes_too_late(const Occurrence& occurrence) const {
    const auto wanted = seen_.job.min_success();
    if (occurrence.event != VolcanoEvent::TaskCompleted || !wanted) return false;
    return seen_.status.phase == VolcanoJobPhase::Running &&
           count(seen_, seen_.status, {}).succeeded > *wanted;
  }

  // An order to restart what it does not name restarts nothing, and neither does anything restart a
  // partition that has no pods.
  static bool needs_pod(VolcanoAction action, const Occurrence& occurrence) {
    return action == VolcanoAction::RestartPartition || occurrence.task.empty();
  }

  const Observed& seen_;
  WallTime now_;
};

}  // namespace

Choice choose(const Observed& seen, const std::vector<Occurrence>& kept, WallTime now) {
  Chooser chooser(seen, now);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Chooser::Fate fate = chooser.consider(kept[i]);
    if (fate == Chooser::Fate::Nothing) chooser.out.settled.push_back(i);
    if (fate != Chooser::Fate::Chosen) continue;
    chooser.out.chosen_of_kept = i;
    return std::move(chooser.out);
  }
  for (const Occurrence& occurrence : standing_occurrences(seen)) {
    if (chooser.consider(occurrence) == Chooser::Fate::Chosen) break;
  }
  return std::move(chooser.out);
}

std::vector<const PodFact*> targets_of(const Chosen& chosen, const Observed& seen) {
  std::vector<const PodFact*> out;
  // What has ended is kept after the last try, so that its logs can be read.
  const bool last_try = seen.status.retry_count >= seen.job.max_retry() - 1;
  const bool keep = chosen.reaction.keep_finished || (chosen.reaction.scope == Scope::Job &&
                                                      chosen.reaction.costs_retry && last_try);
  for (const PodFact& pod : seen.pods) {
    if (chosen.reaction.scope == Scope::Target && pod.task != chosen.why.task) continue;
    if (chosen.action == VolcanoAction::RestartPod && pod.name() != chosen.why.pod) continue;
    if (chosen.action == VolcanoAction::RestartPartition &&
        (pod.partition.empty() || pod.partition != chosen.why.partition))
      continue;
    if (keep && pod.finished()) continue;
    out.push_back(&pod);
  }
  return out;
}

}  // namespace krater::controllers::vcjob
