// Gangs that have their nodes while somebody outside makes their volumes: none of their pods is
// bound before all of their claims are, as kube-scheduler does it (PreBind). Lives on the
// scheduler's loop.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/env.h"
#include "scheduler/cache.h"
#include "scheduler/report.h"

namespace krater::scheduler {

class VolumeWait {
 public:
  // How long volumes may take; kube-scheduler's bindTimeoutSeconds.
  static constexpr Duration kAtMost = std::chrono::minutes(10);

  // `claims`: those it waits for, with the node that each was told. What is older than `told` does
  // not know it yet.
  void add(GangBind gang, std::map<VolumeBook::Place, std::string> claims, Revision told,
           SteadyTime now);
  // Those who wait no more: because all is there, or with the error.
  std::vector<std::pair<GangBind, Result<void>>> take_settled(const Cache& cache, SteadyTime now);
  bool empty() const { return gangs_.empty(); }
  bool has(const JobKey& job) const;

 private:
  struct Waiting {
    GangBind gang;
    std::map<VolumeBook::Place, std::string> claims;
    Revision told;
    SteadyTime until;
  };
  // True: all is there.
  static Result<bool> look(const Waiting& one, const Cache& cache, SteadyTime now);

  std::vector<Waiting> gangs_;
};

}  // namespace krater::scheduler
