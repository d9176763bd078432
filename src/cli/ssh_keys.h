// Makes SSH keys beside the control loop, several at a time, and a few more than were asked for:
// who asks next has his at once. Its threads are started by the first wish and joined at the end.
//
// Always holds: wishes are met in the order in which they came.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/env.h"
#include "runtime/ssh_key.h"

namespace krater::cli {

class SshKeys {
 public:
  using Done = std::function<void(runtime::SshKeyPair)>;
  using Maker = std::function<Result<runtime::SshKeyPair>()>;
  struct Limits {
    std::size_t threads = 1;
    std::size_t reserve = 0;             // keys that nobody has asked for yet
    std::chrono::milliseconds pause{0};  // before it is tried again after a failure
  };
  // A key takes a third of a second: as many at once as there are processors, four at most.
  static Limits for_this_machine();

  // `loop` is where answers arrive; it outlives this. `make` is called on the threads.
  explicit SshKeys(Loop& loop, Maker make = runtime::make_ssh_key,
                   Limits limits = for_this_machine());
  ~SshKeys();
  SshKeys(const SshKeys&) = delete;
  SshKeys& operator=(const SshKeys&) = delete;

  // Loop thread. As long as no key can be made, that is logged and tried again.
  void make(Done done);

 private:
  void work();
  bool wanted() const;  // under mutex_
  void store(runtime::SshKeyPair pair);

  Loop& loop_;
  const Maker make_;
  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Done> wishes_;                     // guarded by mutex_
  std::vector<runtime::SshKeyPair> reserve_{};  // guarded by mutex_; empty while anybody waits
  std::size_t in_work_ = 0;                     // guarded by mutex_
  bool stopped_ = false;                        // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace krater::cli
