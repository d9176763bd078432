#include "scheduler/volume_wait.h"

#include <algorithm>

namespace krater::scheduler {

void VolumeWait::add(GangBind gang, std::map<VolumeBook::Place, std::string> claims, Revision told,
                     SteadyTime now) {
  gangs_.push_back({std::move(gang), std::move(claims), told, now + kAtMost});
}

Result<bool> VolumeWait::look(const Waiting& one, const Cache& cache, SteadyTime now) {
  for (const GangBind::Member& member : one.gang.members) {
    if (!cache.assumed(*member.task))
      return make_error(Code::Conflict, "pod \"" + member.task->name() + "\" has changed");
  }
  bool all = true;
  for (const auto& [place, node] : one.claims) {
    TRY_ASSIGN(const bool bound, cache.volumes().bound_for(place, node, one.told));
    all = all && bound;
  }
  if (!all && now >= one.until)
    return make_error(Code::Timeout, "its volumes were not made within 10 minutes");
  return all;
}

std::vector<std::pair<GangBind, Result<void>>> VolumeWait::take_settled(const Cache& cache,
                                                                        SteadyTime now) {
  std::vector<std::pair<GangBind, Result<void>>> out;
  std::erase_if(gangs_, [&](Waiting& one) {
    Result<bool> seen = look(one, cache, now);
    if (seen && !*seen) return false;
    out.emplace_back(std::move(one.gang), seen ? Result<void>() : Result<void>(seen.error()));
    return true;
  });
  return out;
}

bool VolumeWait::has(const JobKey& job) const {
  return std::any_of(gangs_.begin(), gangs_.end(),
                     [&](const Waiting& one) { return one.gang.job == job; });
}

}  // namespace krater::scheduler
