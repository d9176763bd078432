// Which waiting jobs are left alone, and until when: a job that only a change can help is parked
// until one comes, a job whose pods are not made yet until they are, or are overdue, and a job
// whose bind or eviction failed for a while. Lives on the scheduler's loop; knows no clock.
//
// Always holds: who is parked was waiting in the last cycle.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "scheduler/job_map.h"
#include "scheduler/report.h"

namespace krater::scheduler {

class Parking {
 public:
  // `pods_within`: the pods of an admitted group are to be there within this time.
  explicit Parking(Duration pods_within) : pods_within_(pods_within) {}

  // `help` is Cache::help(): a change that may help somebody.
  bool holds(const JobInfo& job, std::uint64_t help, WallTime now) const;
  // The job was admitted, and its pods should have been made by now.
  bool pods_overdue(const JobKey& job, WallTime now) const;
  // Whose pods have become overdue since the last call.
  std::vector<JobKey> newly_overdue(WallTime now);

  // One cycle's news: begin, each waiting job either stays or is taken, end. Who is neither is
  // parked no more. Jobs without pods need not be seen: they stay until they are taken with pods.
  void begin() { ++cycle_; }
  void stays(const JobKey& job);
  void take(const JobReport& report, std::uint64_t help, WallTime now);
  void end();

  // Everybody is tried again.
  void open() { places_.clear(); }
  // He is.
  void release(const JobKey& job) { places_.erase(job); }
  void forget(const JobKey& job);
  std::size_t size() const { return places_.size() + bare(); }
  // Admitted jobs without pods.
  std::size_t bare() const { return bare_since_.size(); }
  // When the first of those has his turn who are parked until a certain time.
  std::optional<WallTime> first_due() const;

 private:
  struct Place {
    std::uint64_t version = 0, help = 0;
    std::optional<WallTime> again{};  // not longer than until then
    std::uint64_t cycle = 0;          // when it was last seen waiting
  };

  Duration pods_within_;
  std::uint64_t cycle_ = 0;
  JobMap<Place> places_;
  std::optional<WallTime> first_again_{};
  JobMap<WallTime> bare_since_;
  std::deque<std::pair<WallTime, JobKey>> became_bare_;  // not overdue yet, oldest first
};

// Jobs whose writes failed: each failure in a row doubles the time until the next attempt, from
// 10 ms to 10 s.
class Backoffs {
 public:
  // How long from now the job is left alone.
  Duration fail(const JobKey& job, SteadyTime now);
  int failures(const JobKey& job) const;
  void forget(const JobKey& job) { jobs_.erase(job); }
  bool hold(const JobKey& job, SteadyTime now) const;

 private:
  struct Backoff {
    int failures = 0;
    SteadyTime until{};
  };
  JobMap<Backoff> jobs_;
};

}  // namespace krater::scheduler
