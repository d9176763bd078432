// One container in the shim: its current run, its log, its record on disk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/process/codec.h"
#include "agent/shim/log_writer.h"
#include "agent/shim/process.h"
#include "agent/shim/sandbox.h"
#include "base/env.h"

namespace krater::agent {

class ShimContainer {
 public:
  ShimContainer(SandboxHost& host, const WallClock& clock, std::string name)
      : host_(host), clock_(clock), name_(std::move(name)) {}

  // Code::BadRequest when its program cannot be run (recorded nowhere: it never was).
  Result<Started> start(ContainerRun run, Image image);
  // SIGTERM to the program (its group without isolation); SIGKILL to all of it.
  void terminate();
  void kill();
  // The program has ended with this wait status: drains its output, judges how it ended, records
  // it.
  ExitInfo ended(int wait_status);
  Result<Spawned> exec(const std::vector<std::string>& argv);

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  int attempt() const { return plan_.run.attempt; }
  const RunningContainer& record() const { return record_; }
  // The descriptors to poll (-1 when closed), and reading what is there.
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  void read_output();

  // SIGKILL follows at this time of the monotonic clock, in milliseconds.
  std::optional<std::int64_t> kill_at_ms{};

 private:
  ProcessPlan make_plan(ContainerRun run, Image image) const;
  void drain(Fd& fd, LogWriter::Stream stream);
  std::string termination_message(bool failed);
  void save();
  std::string directory() const { return host_.file("containers/" + name_); }

  SandboxHost& host_;
  const WallClock& clock_;
  std::string name_;
  ProcessPlan plan_;
  RunningContainer record_;
  std::unique_ptr<LogWriter> log_;
  Fd out_, err_;
  pid_t pid_ = 0;
};

}  // namespace krater::agent
