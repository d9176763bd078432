// Starts processes in a container: its first one (own mount and process namespaces, limits,
// identity) and further ones by exec. Returns once the program runs or cannot. In the shim; blocks
// for the few milliseconds it takes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/process/codec.h"
#include "agent/shim/cgroup.h"
#include "agent/shim/files.h"
#include "agent/shim/rootfs.h"
#include "base/result.h"

namespace krater::agent {

struct ProcessPlan {
  bool isolate = false;
  bool own_processes = true;  // its own PID namespace
  int shared_processes = -1;  // or, open, the one it is started in
  RootfsPlan rootfs;          // with isolate
  ContainerRun run;
  Image image;
  std::string hostname;
};

struct Spawned {
  pid_t pid = 0;
  Fd out, err;  // what it prints; non-blocking
};

// Code::BadRequest with the program's name when it cannot be run; others when its surroundings
// cannot be made.
Result<Spawned> spawn_container(const ProcessPlan& plan, Cgroups& cgroups);
// A further process beside `target`, which is a container's first process. Output of both kinds
// comes on `out`.
Result<Spawned> spawn_exec(const ProcessPlan& plan, Cgroups& cgroups, pid_t target,
                           const std::vector<std::string>& argv);

// The environment a program gets: the pod's own plus PATH, HOME, HOSTNAME where absent, and the
// image's venv in front.
std::vector<std::string> complete_environment(const ContainerRun& run, const Image& image,
                                              const std::string& hostname, const std::string& home);

}  // namespace krater::agent
