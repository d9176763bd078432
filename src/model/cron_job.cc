#include "model/cron_job.h"

namespace krater {

std::optional<std::string> CronJobView::time_zone() const {
  const auto name = string({"spec", "timeZone"});
  return name ? std::optional<std::string>(*name) : std::nullopt;
}

CronJobView::Concurrency CronJobView::concurrency() const {
  const std::string policy = text({"spec", "concurrencyPolicy"});
  if (policy == "Forbid") return Concurrency::Forbid;
  return policy == "Replace" ? Concurrency::Replace : Concurrency::Allow;
}

const Json& CronJobView::job_template() const {
  static const Json kNone(boost::json::object_kind);
  const Json* found = find(document(), {"spec", "jobTemplate"});
  return found == nullptr ? kNone : *found;
}

}  // namespace krater
