#include "scheduler/actions/gang_claim.h"

#include "scheduler/actions/sub_group_placer.h"

namespace krater::scheduler {

bool claim_for_gang(Session& session, Statement& statement, JobId job,
                    std::deque<std::uint32_t> tasks, const ClaimSome& some) {
  if (session.job(job).sub_group_policies && session.behaviors().whole_sub_group_room) {
    SubGroupPlacing how;
    how.promises = true;
    how.satisfied = [&] { return !session.job_starving(job) && session.job_pipelined(job); };
    how.place_some = [&](Statement& part, std::deque<std::uint32_t>& of_group,
                         const std::function<bool()>& enough) { some(part, of_group, enough); };
    SubGroupPlacer(session, job, std::move(how)).place(statement, tasks);
  } else {
    some(statement, tasks, [&] { return !session.job_starving(job); });
  }
  return session.job_pipelined(job);
}

bool wants_domain(const Session& session, JobId job) {
  if (!session.domains_for(job).empty()) return true;
  for (std::uint32_t g = 0; g < session.job(job).sub_groups.size(); ++g) {
    if (!session.domains_for_sub_group(job, g).empty()) return true;
  }
  return false;
}

}  // namespace krater::scheduler
