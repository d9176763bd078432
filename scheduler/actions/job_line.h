// The jobs of one queue in the order they are served, while serving one moves it and all of its
// group (JobOrderHook::order_group): the order within a group stays, and of the groups only the one
// that was served changes places.
#pragma once

#include <map>
#include <optional>

#include "base/check.h"
#include "scheduler/actions/heap.h"
#include "scheduler/session.h"

namespace krater::scheduler {

class JobLine {
 public:
  explicit JobLine(const Session& session)
      : session_(session), groups_([this](std::uint32_t a, std::uint32_t b) {
          return session_.job_before(jobs_.at(a).top(), jobs_.at(b).top());
        }) {}
  JobLine(const JobLine&) = delete;  // its groups are compared through it
  JobLine& operator=(const JobLine&) = delete;

  bool empty() const { return size_ == 0; }
  // Anybody, before the first pop; afterwards only the job that was popped last.
  void push(JobId job) {
    const std::uint32_t group = session_.order_group(job);
    CHECK(!begun_ || served_ == group);
    jobs_.try_emplace(group, [this](JobId a, JobId b) { return session_.job_before(a, b); })
        .first->second.push(job);
    ++size_;
  }
  JobId pop() {
    if (!std::exchange(begun_, true)) {
      for (const auto& [group, jobs] : jobs_) groups_.push(group);
    } else if (!jobs_.at(*served_).empty()) {
      groups_.push(*served_);
    }
    served_ = groups_.pop();
    --size_;
    return jobs_.at(*served_).pop();
  }

 private:
  const Session& session_;
  std::map<std::uint32_t, Heap<JobId>> jobs_;
  Heap<std::uint32_t> groups_;
  std::optional<std::uint32_t> served_{};
  std::size_t size_ = 0;
  bool begun_ = false;
};

}  // namespace krater::scheduler
