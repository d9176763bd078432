// Starts a helper process of the agent (shims, clean-up) and tells when it ends. On the agent's
// loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/io/poller.h"
#include "agent/shim/files.h"
#include "base/result.h"

namespace krater::agent {

class Children {
 public:
  Children(FdPoller& poller, std::string binary) : poller_(poller), binary_(std::move(binary)) {}

  // Runs `binary shim ARGS…` in a session of its own, its output appended to `log`, `ready` (if
  // any) as descriptor 3. `ended` gets its exit code, once.
  Result<void> spawn(const std::vector<std::string>& args, const std::string& log, int ready,
                     std::function<void(int code)> ended);

 private:
  struct Child {
    int pid = 0;
    Fd handle;
    std::unique_ptr<FdPoller::Watch> watch;
    std::function<void(int)> ended;
  };
  void finished(int pid);

  FdPoller& poller_;
  std::string binary_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace krater::agent
