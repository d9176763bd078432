#include "sim/sim_loop.h"

#include <algorithm>

namespace krater::sim {
namespace {

constexpr Duration kLongestMoment = 1ms;
constexpr std::uint64_t kMostTasks = 200'000;

}  // namespace

SimLoop::Id SimLoop::at(SteadyTime due, std::uint64_t lane, Task task) {
  const SteadyTime when = std::max(due, now_);
  const Id id = ++last_id_;
  queue_.emplace(std::pair(when, id), Entry{lane, std::move(task)});
  due_.emplace(id, when);
  return id;
}

void SimLoop::cancel(Id id) {
  const auto place = due_.find(id);
  if (place == due_.end()) return;
  // Its captures may cancel others when they go: they go last.
  const auto dropped = queue_.extract({place->second, id});
  due_.erase(place);
}

void SimLoop::forget(std::uint64_t lane) {
  std::map<std::pair<SteadyTime, Id>, Entry> dropped;
  for (auto place = queue_.begin(); place != queue_.end();) {
    const auto here = place++;
    if (here->second.lane != lane) continue;
    due_.erase(here->first.second);
    dropped.insert(queue_.extract(here));
  }
}

Duration SimLoop::moment(Duration bound) {
  return Duration(
      static_cast<std::int64_t>(moments_.below(static_cast<std::uint64_t>(bound.count()))));
}

std::uint64_t SimLoop::new_lane(std::string name) {
  lanes_.emplace(++last_lane_, std::move(name));
  return last_lane_;
}

std::string SimLoop::waiting() const {
  struct Waiting {
    std::size_t tasks = 0;
    SteadyTime first;
  };
  std::map<std::uint64_t, Waiting> by_lane;
  for (const auto& [when, entry] : queue_) {
    Waiting& one = by_lane[entry.lane];
    if (one.tasks++ == 0) one.first = when.first;
  }
  std::string out;
  for (const auto& [lane, one] : by_lane) {
    out += (out.empty() ? "" : "; ") + lanes_.at(lane) + ": " + std::to_string(one.tasks) +
           ", next in " +
           std::to_string(
               std::chrono::duration_cast<std::chrono::milliseconds>(one.first - now_).count()) +
           "ms";
  }
  return out;
}

bool SimLoop::run_until(SteadyTime until) {
  const std::uint64_t most = tasks_run_ + kMostTasks;
  while (!queue_.empty() && queue_.begin()->first.first <= until) {
    if (tasks_run_ == most) return false;
    auto next = queue_.extract(queue_.begin());
    now_ = next.key().first;
    due_.erase(next.key().second);
    ++tasks_run_;
    next.mapped().task();
  }
  now_ = std::max(now_, until);
  return true;
}

void Lane::post(Task task) {
  last_post_ = std::max(last_post_, world_.now() + world_.moment(kLongestMoment));
  world_.at(last_post_, id_, std::move(task));
}

Loop::TimerId Lane::after(Duration delay, Task task) {
  return world_.at(world_.now() + std::max(delay, Duration(0)), id_, std::move(task));
}

}  // namespace krater::sim
