// Volcano's cron jobs: names that leave room for the moment of a job, and schedules that can be
// read.
#include <algorithm>
#include <cctype>

#include "api/admission/rules.h"
#include "api/admission/volcano_job_parts.h"
#include "base/cron_schedule.h"
#include "base/strings.h"

namespace krater::api {

namespace {

constexpr std::size_t kLongestName = 52;

bool is_zone_word(std::string_view part) {
  constexpr std::size_t kLongest = 14;
  if (part.empty() || part.size() > kLongest || part.starts_with('-')) return false;
  return part != "." && part != ".." && std::all_of(part.begin(), part.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+';
         });
}

std::string schedule_problem(const std::string& schedule) {
  if (schedule.empty()) return "schedule is required, but got empty";
  if (schedule.find("TZ") != std::string::npos) {
    return "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field";
  }
  return CronSchedule::parse(schedule) ? "" : "schedule is not a valid cron expression";
}

std::string zone_problem(const std::string& zone) {
  if (zone.empty()) return "timeZone must be nil or non-empty string, got empty string";
  std::vector<std::string> out;
  for (const std::string_view part : split(zone, '/')) {
    if (!is_zone_word(part)) out.emplace_back("unknown timeZone");
  }
  if (to_lower(zone) == "local") {
    out.emplace_back(
        "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones");
  } else if (!TimeZone::find(zone)) {
    out.emplace_back("invalid timeZone");
  }
  return join(out, " ");
}

// Of the first job that will be made of the template, as it is completed then. What was stored
// earlier stays: such a cron job can still be suspended.
Result<Problems> template_problems(const Admission& cron) {
  const Json* spec = find(cron.object, {"spec", "jobTemplate", "spec"});
  const Json* before =
      cron.old == nullptr ? nullptr : find(*cron.old, {"spec", "jobTemplate", "spec"});
  if (spec == nullptr || (before != nullptr && *before == *spec)) return Problems();
  Json job(JsonObject{{"metadata", JsonObject()}, {"spec", *spec}});
  const std::string name = cron.name + "-" + std::to_string(cron.now.unix_seconds() / 60);
  Admission one{
      Operation::Create, kinds::kVolcanoJob, cron.name_space, name,     "",       job,
      nullptr,           cron.reader,        cron.settings,   cron.rng, cron.now, cron.warnings};
  TRY(mutate_volcano_job(one));
  return problems_of_job(one, false);
}

}  // namespace

Result<void> admit_volcano_cron_job(const Admission& admission) {
  if (admission.operation == Operation::Delete || !admission.subresource.empty()) return {};
  std::vector<std::string> spec;
  const auto add = [](std::vector<std::string>& to, std::string problem) {
    if (!problem.empty()) to.push_back(std::move(problem));
  };
  add(spec, schedule_problem(text_at(admission.object, {"spec", "schedule"})));
  if (const auto zone = string_at(admission.object, {"spec", "timeZone"}))
    add(spec, zone_problem(std::string(*zone)));
  std::vector<std::string> problems;
  add(problems, join(spec, " "));
  if (admission.name.size() > kLongestName) {
    problems.emplace_back(
        "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 "
        "total)");
  }
  TRY_ASSIGN(const Problems job, template_problems(admission));
  if (!job.empty()) problems.push_back("jobTemplate: " + join(job, "; "));
  return problems.empty() ? Result<void>() : refusal(join(problems, "; "));
}

}  // namespace krater::api
