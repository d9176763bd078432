// A runtime that only keeps books: containers start after a delay, run for a time and end with a
// code, as their pod's annotations say, else as their command says (course.h). Thousands of nodes
// share one. On the agent's loop.
//   krater.io/sim-start-delay: 2s    before a main container runs (default: at once)
//   krater.io/sim-run-time: 1m       after which it ends (default: it runs until it is stopped)
//   krater.io/sim-exit-code: "1"     how it ends (default 0)
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/runtime.h"
#include "agent/simulated/course.h"
#include "base/env.h"

namespace krater::agent {

// Where the addresses of an agent's pods begin, by the name of its (first) node: agents do not know
// of each other, so each begins at one of 2^15 blocks of 256 addresses in 10.128.0.0/9.
std::uint32_t first_address_of(std::string_view node);

class SimulatedRuntime : public Runtime {
 public:
  // Addresses of pods are numbered from `first_address` on: 10.(64 + n / 2^16).(n / 2^8).(n), after
  // the last one from 10.128.0.0 on. Whoever has more than one runtime keeps them apart by it.
  SimulatedRuntime(Loop& loop, const WallClock& clock, std::uint32_t first_address = 0,
                   Programs programs = {})
      : loop_(loop), clock_(clock), last_address_(first_address), programs_(std::move(programs)) {}
  ~SimulatedRuntime() override;

  void set_listener(RuntimeListener* listener) override { listener_ = listener; }
  void list(Done<std::vector<Sandbox>> done) override;
  bool recall(const SandboxSpec& spec, const std::string& ip,
              const std::vector<Recalled>& running) override;
  void create_sandbox(SandboxSpec spec, Done<Sandbox> done) override;
  void start_container(const std::string& uid, ContainerRun run, Done<Started> done) override;
  void stop_container(const std::string& uid, const std::string& container,
                      std::int64_t grace_seconds) override;
  void remove_sandbox(const std::string& uid, Done<bool> done) override;
  void forget(const std::string& uid) override { drop(uid); }
  void exec(const std::string& uid, const std::string& container, std::vector<std::string> argv,
            int timeout_seconds, Done<ExecResult> done) override;
  bool needs_content() const override { return false; }
  std::string pod_directory(const std::string&) const override { return {}; }

  std::size_t sandboxes() const { return sandboxes_.size(); }

 private:
  struct Run {
    ContainerRun spec;
    Started started;
    Course course;
    Loop::TimerId timer = 0;  // of the start or of the end
    Loop::TimerId kill = 0;   // of SIGKILL, after a SIGTERM that was ignored
    std::optional<WallTime> killed_at;
    Done<Started> starting;  // set until it runs
  };
  struct Pod {
    std::string ip;
    Duration start_delay{};
    std::optional<Duration> run_time;
    int exit_code = 0;
    std::map<std::string, Run> runs;  // alive ones
  };

  Pod& book(const SandboxSpec& spec);
  void drop(const std::string& uid);
  Course course_of(const Pod& pod, const ContainerRun& run) const;
  void stop(const std::string& uid, const std::string& container, std::int64_t grace_seconds);
  void end_in_time(const std::string& uid, Run& run);
  void run(const std::string& uid, const std::string& container);
  void end(const std::string& uid, const std::string& container, int code, int signal);

  Loop& loop_;
  const WallClock& clock_;
  RuntimeListener* listener_ = nullptr;
  std::map<std::string, Pod> sandboxes_;
  std::uint32_t last_address_;
  Programs programs_;
};

}  // namespace krater::agent
