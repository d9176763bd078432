// batch/v1 Jobs: the selector and labels that tie pods to exactly this job.
#include "api/admission/rules.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kUid = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kName = "batch.kubernetes.io/job-name";
constexpr std::string_view kOldUid = "controller-uid";
constexpr std::string_view kOldName = "job-name";

bool manual(const Json& job) {
  return bool_at(job, {"spec", "manualSelector"}).value_or(false);
}

// The label is ours: a template that brings another value is an error, found by validation.
void label(Json& job, std::string_view key, const std::string& value) {
  if (!string_at(job, {"spec", "template", "metadata", "labels", key})) {
    set_path(job, {"spec", "template", "metadata", "labels", key}, Json(value));
  }
}

void validate_new(const Admission& admission, Causes& causes) {
  const Json& job = admission.object;
  if (manual(job)) return;
  const std::string uid = text_at(job, {"metadata", "uid"});
  for (const std::string_view key : {kOldUid, kUid}) {
    const std::string value = text_at(job, {"spec", "template", "metadata", "labels", key});
    if (value != uid) {
      causes.push_back(
          invalid_value("spec.template.metadata.labels", quoted(value), "must be '" + uid + "'"));
    }
  }
  for (const std::string_view key : {kOldName, kName}) {
    const auto value = string_at(job, {"spec", "template", "metadata", "labels", key});
    if (value && *value == admission.name) continue;
    causes.push_back(invalid_value("spec.template.metadata.labels[" + std::string(key) + "]",
                                   to_json(*find(job, {"spec", "template", "metadata", "labels"})),
                                   "must be '" + admission.name + "'"));
  }
  const JsonObject* selector = object_at(job, {"spec", "selector"});
  const Json wanted = JsonObject{{"matchLabels", JsonObject{{kUid, uid}}}};
  if (selector == nullptr || Json(*selector) != wanted) {
    causes.push_back(invalid_value("spec.selector",
                                   selector == nullptr ? "null" : to_json(*selector),
                                   "`selector` not auto-generated"));
  }
}

// The pods of an Indexed job are called <job>-<index>, and so are their hosts.
void check_host_names(const Admission& admission, Causes& causes) {
  const auto completions = int_at(admission.object, {"spec", "completions"});
  const bool indexed = text_at(admission.object, {"spec", "completionMode"}) == "Indexed";
  if (!indexed || completions.value_or(0) <= 0) return;
  const std::string longest = std::string(admission.name) + "-" + std::to_string(*completions - 1);
  if (check_dns1123_label(longest).empty()) return;
  causes.push_back(invalid_value("metadata.name", quoted(admission.name),
                                 "will not able to create pod with invalid DNS label: " + longest));
}

}  // namespace

Result<void> mutate_job(Admission& admission) {
  if (admission.operation != Operation::Create || manual(admission.object)) return {};
  Json& job = admission.object;
  const std::string uid = text_at(job, {"metadata", "uid"});
  label(job, kUid, uid);
  label(job, kOldUid, uid);
  label(job, kName, admission.name);
  label(job, kOldName, admission.name);
  if (find(job, {"spec", "selector"}) == nullptr) {
    set_path(job, {"spec", "selector"}, JsonObject{{"matchLabels", JsonObject{{kUid, uid}}}});
  }
  // A job without labels of its own has those of its pods, these among them.
  if (find(job, {"metadata", "labels"}) == nullptr)
    set_path(job, {"metadata", "labels"},
             Json(*find(job, {"spec", "template", "metadata", "labels"})));
  return {};
}

void validate_job(const Admission& admission, Causes& causes) {
  if (admission.operation != Operation::Create)
    return;  // what may change later is the schema's business
  validate_new(admission, causes);
  check_host_names(admission, causes);
  if (check_dns1123_label(admission.name).empty()) return;
  admission.warnings.push_back(
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is "
      "recommended: [" +
      check_dns1123_label(admission.name) + "]");
}

}  // namespace krater::api
