// What a simulation amounts to: per job, queue and user how long was waited, who held what when,
// who was evicted. Told of what happens as it happens; adds it up in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace krater::replay {

struct JobTale {
  std::string name, queue, user;
  Duration submitted{};
  std::int64_t min = 1, pods = 0;
  std::optional<Duration> started{};  // its minimum was placed, for the first time
  std::optional<Duration> waits{};    // since when its minimum is not placed; at first `submitted`
  Duration again{};                   // how long it waited after evictions, in all
  std::optional<Duration> ended{};    // all its pods are done
  std::int64_t evictions = 0;         // pods
  std::int64_t placed = 0, done = 0;  // now

  // Until it started, and again after evictions; who still waits, until `now`.
  Duration waited_again(Duration now) const;
  Duration waited(Duration now) const;
};

class Tally {
 public:
  void capacity(std::int64_t cpu_milli) { capacity_ = cpu_milli; }
  void submitted(const std::string& job, const std::string& queue, const std::string& user,
                 Duration at, std::int64_t min, std::int64_t pods);
  // A pod of it got a node, or left it (sign -1) as done or as evicted.
  void placed(const std::string& job, Duration at, std::int64_t cpu_milli);
  void done(const std::string& job, Duration at, std::int64_t cpu_milli);
  void evicted(const std::string& job, Duration at, std::int64_t cpu_milli);

  const std::map<std::string, JobTale>& jobs() const { return jobs_; }
  bool all_ended() const { return ended_ == static_cast<std::int64_t>(jobs_.size()); }

  // Who still waits has waited until then; else until the end of the report.
  void watched(Duration until) { watched_ = until; }
  // Who had not come when it ended.
  void not_submitted(std::int64_t jobs) { not_submitted_ = jobs; }

  // `until`: when the last thing happened. Figures over time begin with the first submission.
  Json report(Duration until) const;
  std::string text(Duration until) const;

 private:
  // Of a queue or a user.
  struct GroupTale {
    std::int64_t cpu = 0;                                    // now
    std::vector<std::pair<Duration, std::int64_t>> steps{};  // cpu from then on
    std::int64_t evictions = 0;
  };
  using Groups = std::map<std::string, GroupTale>;
  void move(const JobTale& job, Duration at, std::int64_t cpu_milli);
  JsonArray groups_json(std::string_view what, std::string JobTale::*member, const Groups& groups,
                        Duration until) const;
  Duration makespan(Duration until) const;
  std::vector<std::int64_t> shares(const GroupTale& group, Duration until, std::size_t parts) const;

  Duration first() const;

  std::optional<Duration> watched_{};
  std::int64_t capacity_ = 0, ended_ = 0, not_submitted_ = 0;
  std::map<std::string, JobTale> jobs_;
  Groups queues_, users_;
};

}  // namespace krater::replay
