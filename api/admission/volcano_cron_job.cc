// Volcano's cron jobs: names that leave room for the moment of a job, and schedules that can be
// read.
#include "api/admission/rules.h"
#include "base/cron_schedule.h"

namespace krater::api {

Result<void> admit_volcano_cron_job(const Admission& admission) {
  constexpr std::size_t kLongestName = 52;
  if (admission.operation == Operation::Delete || !admission.subresource.empty()) return {};
  if (admission.name.size() > kLongestName) return refusal("must be no more than 52 characters");
  const std::string schedule = text_at(admission.object, {"spec", "schedule"});
  if (schedule.empty()) return refusal("schedule is required");
  if (schedule.find("TZ") != std::string::npos)
    return refusal("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (const auto parsed = CronSchedule::parse(schedule); !parsed)
    return refusal("invalid schedule \"" + schedule + "\": " + parsed.error().message);
  const auto zone = string_at(admission.object, {"spec", "timeZone"});
  if (!zone) return {};
  if (zone->empty()) return refusal("timeZone must be nil or non-empty string");
  if (*zone == "Local")
    return refusal(
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  if (const auto found = TimeZone::find(std::string(*zone)); !found)
    return refusal("unknown time zone " + std::string(*zone));
  return {};
}

}  // namespace krater::api
