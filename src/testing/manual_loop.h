// A Loop and its WallClock for tests: nothing runs until told, time moves only when told. One
// thread.
#pragma once

#include <deque>
#include <map>

#include "base/env.h"

namespace krater::testing {

class ManualLoop final : public Loop {
 public:
  void post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId after(Duration delay, Task task) override {
    const TimerId id = ++last_timer_;
    timers_.emplace(std::pair(now_ + std::max(delay, Duration(0)), id), std::move(task));
    return id;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }
  SteadyTime now() const override { return now_; }
  bool on_loop_thread() const override { return true; }

  // Runs posted tasks until none is left. Time stands still.
  void run_ready() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  // Moves time, running every timer that falls due in order.
  void advance(Duration by) {
    const SteadyTime until = now_ + by;
    run_ready();
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      now_ = timers_.begin()->first.first;
      Task task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      task();
      run_ready();
    }
    now_ = until;
  }
  std::size_t timers() const { return timers_.size(); }
  // Wall time = 2026-01-01T00:00:00Z plus what has been advanced.
  WallClock& wall() { return wall_; }

 private:
  WallTime now_wall() const {
    return WallTime::from_unix_seconds(1'767'225'600) + now_.time_since_epoch();
  }
  struct Wall final : WallClock {
    explicit Wall(const ManualLoop& owner) : loop(owner) {}
    WallTime now() const override { return loop.now_wall(); }
    const ManualLoop& loop;
  };

  std::deque<Task> tasks_;
  std::map<std::pair<SteadyTime, TimerId>, Task> timers_;
  SteadyTime now_{};
  TimerId last_timer_ = 0;
  Wall wall_{*this};
};

}  // namespace krater::testing
