// Reading a batch/v1 CronJob. Defaults are those of the API server.
#pragma once

#include <optional>
#include <string>

#include "model/object.h"
#include "model/workload_kinds.h"

namespace krater {

namespace keys {
// On Jobs: the moment of the schedule they were made for.
inline constexpr std::string_view kScheduledTime =
    "batch.kubernetes.io/cronjob-scheduled-timestamp";
}  // namespace keys

class CronJobView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  enum class Concurrency { Allow, Forbid, Replace };

  std::string schedule() const { return text({"spec", "schedule"}); }
  // Nothing: the server's own.
  std::optional<std::string> time_zone() const;
  std::optional<std::int64_t> starting_deadline_s() const {
    return integer({"spec", "startingDeadlineSeconds"});
  }
  Concurrency concurrency() const;
  bool suspended() const { return boolean({"spec", "suspend"}).value_or(false); }
  std::int64_t successful_limit() const {
    return integer({"spec", "successfulJobsHistoryLimit"}).value_or(3);
  }
  std::int64_t failed_limit() const {
    return integer({"spec", "failedJobsHistoryLimit"}).value_or(1);
  }
  // An empty object when there is none.
  const Json& job_template() const;

  std::optional<WallTime> last_scheduled() const { return time({"status", "lastScheduleTime"}); }
  std::optional<WallTime> last_successful() const { return time({"status", "lastSuccessfulTime"}); }
};

}  // namespace krater
