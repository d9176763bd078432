#include "api/registry/task_templates.h"

#include "api/admission/admission.h"

namespace krater::api {

namespace {

constexpr std::string_view kCronJobs = "cronjobs.batch.volcano.sh";

}  // namespace

Result<void> check_task_templates(const SchemaSet& schemas, const Kind& kind, const Json& object) {
  const bool cron = kind.resource() == kCronJobs;
  if (!cron && kind.resource() != kinds::kVolcanoJob.resource()) return {};
  const JsonArray* tasks = cron ? array_at(object, {"spec", "jobTemplate", "spec", "tasks"})
                                : array_at(object, {"spec", "tasks"});
  const KindSchemaPtr rules = schemas.find_kind("v1", "PodTemplate");
  if (tasks == nullptr || rules == nullptr) return {};
  std::string problems;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    const Json* task_template = find((*tasks)[i], {"template"});
    Json copy = JsonObject();
    set_path(copy, {"metadata"}, JsonObject());
    set_path(copy, {"template"}, task_template == nullptr ? Json(JsonObject()) : *task_template);
    rules->apply_defaults(copy);
    std::string found;
    for (const Cause& cause : rules->validate(copy, nullptr)) {
      if (cause.field.starts_with("template")) found += cause.field + ": " + cause.message + ". ";
    }
    if (!found.empty()) problems += "spec.task[" + std::to_string(i) + "]." + found;
  }
  if (problems.empty()) return {};
  problems.pop_back();
  return refusal(cron ? "admission webhook \"validatecronjob.volcano.sh\" denied the request: "
                        "jobTemplate: " +
                            problems
                      : "admission webhook \"validatejob.volcano.sh\" denied the request: " +
                            problems);
}

}  // namespace krater::api
