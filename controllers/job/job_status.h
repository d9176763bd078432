// Job status as the controller authors it. Nobody else writes it, so it is written whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/condition.h"
#include "model/job.h"

namespace krater::controllers {

struct JobStatus {
  std::optional<WallTime> start{}, completion{};
  std::int64_t active = 0, ready = 0, terminating = 0, succeeded = 0, failed = 0;
  std::string completed_indexes{};
  std::optional<std::string> failed_indexes{};  // only with backoffLimitPerIndex
  // Uids of pods that have ended, are not in the counters yet and may still hold the finalizer.
  std::vector<std::string> uncounted_succeeded{}, uncounted_failed{};
  std::vector<Condition> conditions{};

  static JobStatus of(const JobView& job);
  Json to_json_value() const;

  bool has(std::string_view type) const { return find(type) != nullptr && find(type)->is_true(); }
  const Condition* find(std::string_view type) const;
  // True when something changed; the transition time moves only with the status text.
  bool set(std::string_view type, bool value, std::string_view reason, std::string_view message,
           WallTime now);
  bool uncounted() const { return !uncounted_succeeded.empty() || !uncounted_failed.empty(); }
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

}  // namespace krater::controllers
