#include "controllers/vcjob/choice.h"

#include <algorithm>

#include "controllers/vcjob/needs.h"
#include "controllers/vcjob/tally.h"
#include "model/retry_accounting.h"

namespace krater::controllers::vcjob {
namespace {

// The pods that an action is about.
std::vector<const PodFact*> named_by(const Chosen& chosen, const Observed& seen) {
  std::vector<const PodFact*> out;
  for (const PodFact& pod : seen.pods) {
    if (chosen.reaction.scope == Scope::Target && pod.task != chosen.why.task) continue;
    if (chosen.action == VolcanoAction::RestartPod && pod.name() != chosen.why.pod) continue;
    if (chosen.action == VolcanoAction::RestartPartition &&
        (pod.partition.empty() || pod.partition != chosen.why.partition))
      continue;
    out.push_back(&pod);
  }
  return out;
}

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
    if (reaction->scope == Scope::Target &&
        (is_last_word() ||
         (named_by(chosen, seen_).empty() && (seen_.status.phase == VolcanoJobPhase::Restarting ||
                                              needs_pod(answer.action, occurrence)))))
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

  // The last try was used up: nothing starts again, and what has ended is kept.
  bool is_last_word() const {
    return seen_.status.phase == VolcanoJobPhase::Restarting &&
           seen_.status.retry_count >= seen_.job.max_retry();
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

bool costs_retry(const Chosen& chosen, const Observed& seen) {
  if (counts_every_restart(seen.job.object()))
    return chosen.reaction.costs_retry || chosen.action == VolcanoAction::ResumeJob;
  return chosen.reaction.costs_retry && !chosen.why.by_scheduler;
}

bool keeps_finished(const Chosen& chosen, const Observed& seen) {
  if (chosen.reaction.keep_finished) return true;
  return costs_retry(chosen, seen) && seen.status.retry_count >= seen.job.max_retry() - 1;
}

std::vector<const PodFact*> targets_of(const Chosen& chosen, const Observed& seen) {
  std::vector<const PodFact*> out = named_by(chosen, seen);
  if (keeps_finished(chosen, seen))
    std::erase_if(out, [](const PodFact* pod) { return pod->finished(); });
  return out;
}

}  // namespace krater::controllers::vcjob
