#include "scheduler/parking.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(10);
constexpr Duration kLastBackoff = std::chrono::seconds(10);

}  // namespace

bool Parking::holds(const JobInfo& job, std::uint64_t help, WallTime now) const {
  const auto known = places_.find(job.key);
  if (known == places_.end()) return false;
  const Place& place = known->second;
  return place.version == job.version && place.help == help &&
         !(place.again && *place.again <= now);
}

bool Parking::pods_overdue(const JobKey& job, WallTime now) const {
  const auto since = bare_since_.find(job);
  return since != bare_since_.end() && since->second + pods_within_ <= now;
}

void Parking::stays(const JobKey& job) {
  const auto known = places_.find(job);
  if (known != places_.end()) known->second.cycle = cycle_;
}

void Parking::take(const JobReport& report, std::uint64_t help, WallTime now) {
  if (report.bare) {
    if (bare_since_.try_emplace(report.key, now).second) became_bare_.emplace_back(now, report.key);
    return;
  }
  bare_since_.erase(report.key);
  if (report.can_park) places_[report.key] = Place{report.version, help, report.again, cycle_};
}

void Parking::end() {
  first_again_.reset();
  std::erase_if(places_, [this](const auto& entry) {
    const Place& place = entry.second;
    if (place.cycle != cycle_) return true;
    if (place.again && (!first_again_ || *place.again < *first_again_)) first_again_ = place.again;
    return false;
  });
}

std::vector<JobKey> Parking::newly_overdue(WallTime now) {
  std::vector<JobKey> out;
  while (!became_bare_.empty() && became_bare_.front().first + pods_within_ <= now) {
    auto [since, job] = std::move(became_bare_.front());
    became_bare_.pop_front();
    const auto known = bare_since_.find(job);
    if (known != bare_since_.end() && known->second == since) out.push_back(std::move(job));
  }
  return out;
}

std::optional<WallTime> Parking::first_due() const {
  if (became_bare_.empty()) return first_again_;
  const WallTime due = became_bare_.front().first + pods_within_;
  return first_again_ ? std::min(*first_again_, due) : due;
}

void Parking::forget(const JobKey& job) {
  places_.erase(job);
  bare_since_.erase(job);
}

Duration Backoffs::fail(const JobKey& job, SteadyTime now) {
  Backoff& backoff = jobs_[job];
  Duration pause = kFirstBackoff;
  for (int i = 0; i < backoff.failures && pause < kLastBackoff; ++i) pause *= 2;
  pause = std::min(pause, kLastBackoff);
  ++backoff.failures;
  backoff.until = now + pause;
  return pause;
}

int Backoffs::failures(const JobKey& job) const {
  const auto known = jobs_.find(job);
  return known == jobs_.end() ? 0 : known->second.failures;
}

bool Backoffs::hold(const JobKey& job, SteadyTime now) const {
  const auto known = jobs_.find(job);
  return known != jobs_.end() && known->second.until > now;
}

}  // namespace krater::scheduler
