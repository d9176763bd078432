// Limits and accounting of a pod's containers: PARENT/pod<uid>/<container> in every hierarchy there
// is, cgroup v2 or v1. Where the machine does not let us make groups, pods run without limits and
// the shim's log says so. In the shim.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace krater::agent {

struct CgroupLimits {
  std::int64_t memory_bytes = 0, cpu_limit_milli = 0, cpu_request_milli = 0;  // 0: none
};

// What cgroups are worked with: the kernel's files, or a test's. Errors of directories are errno, 0
// for success.
class GroupFiles {
 public:
  virtual ~GroupFiles() = default;
  virtual Result<std::string> read(const std::string& path) = 0;
  virtual Result<void> write(const std::string& path, const std::string& text) = 0;
  virtual int make(const std::string& group) = 0;
  virtual int remove(const std::string& group) = 0;
  virtual std::vector<std::string> children(const std::string& group) = 0;
  virtual void kill(int pid) = 0;
  virtual void pause() = 0;  // some milliseconds for the killed to leave
  virtual std::int64_t processors() = 0;
};
GroupFiles& kernel_group_files();

class Cgroups {
 public:
  struct Hierarchy {
    std::string mount;                     // "/sys/fs/cgroup/memory", or "/sys/fs/cgroup" for v2
    std::vector<std::string> controllers;  // of those we use: memory, cpu, pids
    bool v2 = false;
  };

  // From the text of /proc/self/mountinfo.
  static std::vector<Hierarchy> find_hierarchies(const std::string& mountinfo);

  Cgroups(std::vector<Hierarchy> hierarchies, std::string parent, std::string pod,
          GroupFiles& files = kernel_group_files())
      : hierarchies_(std::move(hierarchies)),
        parent_(std::move(parent)),
        pod_(std::move(pod)),
        files_(&files) {}

  // Makes the pod's group in every hierarchy. Where that cannot be done the hierarchy is not used:
  // a sentence for each such, and for each controller that v2 does not let us have.
  std::vector<std::string> prepare();
  // Makes the group anew (its counters start at zero) and sets its limits; the pod then weighs what
  // its living containers ask for together.
  Result<void> make(const std::string& container, const CgroupLimits& limits);
  // Moves the calling process.
  Result<void> enter(const std::string& container);
  // True when the kernel killed something in the group for lack of memory.
  bool out_of_memory(const std::string& container) const;
  // Kills what is left in the pod's groups and removes them.
  void remove_all();
  const std::vector<Hierarchy>& hierarchies() const { return hierarchies_; }
  std::string directory(const Hierarchy& hierarchy, const std::string& container) const;

 private:
  Result<void> prepare(Hierarchy& hierarchy);
  Result<void> make_group(const std::string& path);
  void remove_group(const std::string& group);
  bool kill_members(const std::string& group);
  bool clear_inner_group(const std::string& group);
  bool lives(const std::string& group);
  std::int64_t requested_by_the_living(const Hierarchy& hierarchy, const std::string& newest);

  std::vector<Hierarchy> hierarchies_;
  std::string parent_, pod_;
  GroupFiles* files_;
  std::map<std::string, std::int64_t> requests_milli_;  // by container, of those made so far
};

// cpu.shares of v1 and cpu.weight of v2 for a request, as a kubelet computes them.
std::int64_t cpu_shares(std::int64_t request_milli);
std::int64_t cpu_weight(std::int64_t shares);

}  // namespace krater::agent
