// The runtime of a real node: a shim process for each pod, programs of this machine for images.
// Shims outlive the agent; list() finds them again. On the agent's loop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/io/poller.h"
#include "agent/process/child.h"
#include "agent/process/images.h"
#include "agent/process/shim_link.h"
#include "agent/runtime.h"
#include "base/env.h"

namespace krater::agent {

struct ProcessRuntimeOptions {
  std::string directory;                  // DATA/pods
  std::string binary = "/proc/self/exe";  // answers to `shim`
  bool isolate = false;                   // needs root
  std::string cni_bin_dir, cni_config;    // empty: pods have no network beyond loopback
  std::vector<std::string> hidden;        // host directories that no container may see
  ImageMap images{ImageMap::defaults()};
  std::int64_t log_bytes = 10 << 20;
  int log_files = 5;
};

class ProcessRuntime final : public Runtime {
 public:
  ProcessRuntime(Loop& loop, FdPoller& poller, ProcessRuntimeOptions options);

  void set_listener(RuntimeListener* listener) override { listener_ = listener; }
  void list(Done<std::vector<Sandbox>> done) override;
  void create_sandbox(SandboxSpec spec, Done<Sandbox> done) override;
  void start_container(const std::string& uid, ContainerRun run, Done<Started> done) override;
  void stop_container(const std::string& uid, const std::string& container,
                      std::int64_t grace_seconds) override;
  void remove_sandbox(const std::string& uid, Done<bool> done) override;
  void forget(const std::string& uid) override;
  void exec(const std::string& uid, const std::string& container, std::vector<std::string> argv,
            int timeout_seconds, Done<ExecResult> done) override;
  bool needs_content() const override { return true; }
  std::string pod_directory(const std::string& uid) const override {
    return options_.directory + "/" + uid;
  }

 private:
  struct Birth;    // a shim that is coming up
  struct Listing;  // answers that list() waits for

  void shim_said(const std::string& uid, const std::shared_ptr<Birth>& birth);
  Result<void> link(const std::string& uid);
  void event(const std::string& uid, const Json& event);
  void closed(const std::string& uid);
  void clean_up(const std::string& uid, Done<bool> done);
  Sandbox remains(const std::string& uid) const;
  void later(std::function<void()> task) { loop_.post(std::move(task)); }

  Loop& loop_;
  FdPoller& poller_;
  ProcessRuntimeOptions options_;
  Children children_;
  RuntimeListener* listener_ = nullptr;
  std::map<std::string, std::unique_ptr<ShimLink>> links_;  // by uid
  std::map<std::string, bool> removing_;
};

}  // namespace krater::agent
