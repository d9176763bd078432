// Volcano Jobs from their creation to their end: PodGroup, pods, policies, plugins, orders
// (Commands). Lives on the control loop. What to do is decided by pure functions (choice.h,
// step.h); the class gathers what they decide on and remembers what leaves no trace in the store.
#pragma once

#include <functional>
#include <memory>

#include "controllers/loop/plan.h"
#include "controllers/vcjob/observed.h"

namespace krater::controllers {

struct VolcanoJobDeps {
  // Makes a key pair without blocking and hands it over on the control loop.
  std::function<void(std::function<void(vcjob::SshKey)>)> make_ssh_key;
  std::function<void(const ObjectKey&)> enqueue;  // ControllerLoop's for this controller
  // Whether the API has a kind.
  std::function<bool(const Kind&)> served;
};

std::unique_ptr<Reconciler> make_volcano_job_controller(VolcanoJobDeps deps);

}  // namespace krater::controllers
