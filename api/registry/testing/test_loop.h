// A loop for tests with a real store, whose writer posts from its own thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/env.h"

namespace krater::api::testing {

// A loop that the test's own thread runs; other threads post to it.
class TestLoop final : public Loop {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.notify_one();
  }
  TimerId after(Duration delay, Task task) override {
    const std::lock_guard lock(mutex_);
    timers_.emplace(std::pair(now() + delay, ++last_), std::move(task));
    return last_;
  }
  void cancel(TimerId timer) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }
  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  bool on_loop_thread() const override { return std::this_thread::get_id() == owner_; }

  // Runs what is posted until `done` holds; false when it does not within ten seconds.
  bool run_until(const std::function<bool()>& done) {
    const SteadyTime limit = now() + 10s;
    while (!done()) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        if (tasks_.empty() && !timers_.empty() && timers_.begin()->first.first <= now()) {
          tasks_.push_back(std::move(timers_.begin()->second));
          timers_.erase(timers_.begin());
        }
        const SteadyTime next =
            timers_.empty() ? limit : std::min(limit, timers_.begin()->first.first);
        if (!posted_.wait_until(lock, next, [this] { return !tasks_.empty(); })) {
          if (now() >= limit) return false;
          continue;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> tasks_;
  std::map<std::pair<SteadyTime, TimerId>, Task> timers_;
  TimerId last_ = 0;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace krater::api::testing
