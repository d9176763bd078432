#include "controllers/vcjob/memory.h"

#include <algorithm>

namespace krater::controllers::vcjob {

void Memory::refresh(const Observed& seen, WallTime now) {
  const StatusMark mark = mark_of(seen.status);
  std::erase_if(happened, [&](const Occurrence& one) {
    if (one.tried) return *one.tried != mark;  // it has moved: done
    if (one.job_uid != seen.job->uid()) return true;
    return !one.ordered && one.version < seen.status.version;
  });
  for (Occurrence& one : happened) {
    if (!one.since) one.since = now;
  }
  std::erase_if(done, [&](const Done& one) {
    return one.job != seen.job->uid() ||
           seen.stored.succeeded_and_gone(one.task).contains(one.index);
  });
}

void Memory::give_order(VolcanoAction action, const Uid& job) {
  Occurrence order;
  order.event = VolcanoEvent::CommandIssued;
  order.job_uid = job;
  order.ordered = action;
  const auto place = std::ranges::find_if(
      happened, [](const Occurrence& one) { return !one.ordered.has_value(); });
  happened.insert(place, std::move(order));
}

void Memory::settle(const Choice& choice, const Status& status) {
  std::set<std::size_t> drop(choice.settled.begin(), choice.settled.end());
  if (choice.chosen_of_kept) {
    Occurrence& acted = happened[*choice.chosen_of_kept];
    acted.tried = mark_of(status);
    // Nothing of the status will show it.
    if (status.phase == VolcanoJobPhase::Restarting &&
        choice.chosen->reaction.scope == Scope::Target)
      drop.insert(*choice.chosen_of_kept);
  }
  std::vector<Occurrence> kept;
  for (std::size_t i = 0; i < happened.size(); ++i) {
    if (!drop.contains(i)) kept.push_back(std::move(happened[i]));
  }
  happened = std::move(kept);
}

}  // namespace krater::controllers::vcjob
