#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

std::string status(const Json& job) {
  if (condition_status(job, "Complete") == "True") return "Complete";
  if (condition_status(job, "Failed") == "True") return "Failed";
  if (find(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  for (std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (condition_status(job, type) == "True") return std::string(type);
  }
  return "Running";
}

std::string completions(const Json& job) {
  const std::string done = std::to_string(int_at(job, {"status", "succeeded"}).value_or(0));
  if (const auto wanted = int_at(job, {"spec", "completions"}))
    return done + "/" + std::to_string(*wanted);
  const auto parallelism = int_at(job, {"spec", "parallelism"}).value_or(0);
  return parallelism > 1 ? done + "/1 of " + std::to_string(parallelism) : done + "/1";
}

std::string duration(const Json& job, WallTime now) {
  const auto start = parse_rfc3339(text_at(job, {"status", "startTime"}));
  if (!start) return {};
  const auto end = parse_rfc3339(text_at(job, {"status", "completionTime"}));
  return human_duration(end.value_or(now) - *start);
}

}  // namespace

JsonArray job(const Json& object, WallTime now) {
  return {Json(name(object)),
          Json(status(object)),
          Json(completions(object)),
          Json(duration(object, now)),
          Json(age(object, now)),
          Json(container_fields(find(object, {"spec", "template"}), "name")),
          Json(container_fields(find(object, {"spec", "template"}), "image")),
          Json(selector_text(find(object, {"spec", "selector"})))};
}

}  // namespace krater::api::cells
