#include "controllers/job/pod_template.h"

#include <algorithm>

#include "base/name_suffix.h"
#include "base/strings.h"

namespace krater::controllers {
namespace {

constexpr std::size_t kMaxNamePrefix = 58;  // 63, less the suffix

std::string name_prefix(const std::string& job, std::optional<std::int64_t> index) {
  const std::string tail = index ? "-" + std::to_string(*index) + "-" : "-";
  return job.substr(0, kMaxNamePrefix - tail.size()) + tail;
}

void add_index_variable(Json* containers) {
  if (containers == nullptr || !containers->is_array()) return;
  for (Json& container : containers->get_array()) {
    if (!container.is_object()) continue;
    Json& env = container.get_object()["env"];
    if (!env.is_array()) env.emplace_array();
    const bool present = std::ranges::any_of(env.get_array(), [](const Json& variable) {
      return string_at(variable, {"name"}) == "JOB_COMPLETION_INDEX";
    });
    if (present) continue;
    Json variable(boost::json::object_kind);
    set_path(variable, {"name"}, "JOB_COMPLETION_INDEX");
    set_path(variable, {"valueFrom", "fieldRef", "fieldPath"},
             Json("metadata.labels['" + std::string(keys::kJobCompletionIndex) + "']"));
    env.get_array().push_back(std::move(variable));
  }
}

void add_index(Json& pod, const std::string& job, std::int64_t index) {
  const std::string text = std::to_string(index);
  set_path(pod, {"metadata", "labels", keys::kJobCompletionIndex}, Json(text));
  set_path(pod, {"metadata", "annotations", keys::kJobCompletionIndex}, Json(text));
  set_path(pod, {"spec", "hostname"}, Json(job + "-" + text));
  add_index_variable(find(pod, {"spec", "containers"}));
  add_index_variable(find(pod, {"spec", "initContainers"}));
}

}  // namespace

std::string pod_name(const JobView& job, std::optional<std::int64_t> index, std::int64_t serial,
                     const PodNames& names) {
  const std::string prefix = name_prefix(job->name(), index);
  const std::string seed = job->uid().text() + "/" + names.last_gone.text() + "/" + prefix;
  for (;; ++serial) {
    std::string name = prefix + name_suffix(fnv1a(seed + std::to_string(serial)));
    if (!names.taken(name)) return name;
  }
}

Json pod_from_template(const JobView& job, const NewPod& wanted) {
  Json pod = new_object(kinds::kPod, job->name_space(), wanted.name);
  Labels labels, annotations;
  if (const Json* source = job.pod_template()) {
    labels = string_map(find(*source, {"metadata", "labels"}));
    annotations = string_map(find(*source, {"metadata", "annotations"}));
    const Json* spec = find(*source, {"spec"});
    set_path(pod, {"spec"}, spec == nullptr ? Json(boost::json::object_kind) : *spec);
  }
  if (!job.manual_selector()) {
    for (const std::string_view key : {keys::kJobControllerUid, keys::kLegacyJobControllerUid}) {
      labels.emplace(key, job->uid().text());
    }
    for (const std::string_view key : {keys::kJobName, keys::kLegacyJobName})
      labels.emplace(key, job->name());
  }
  if (wanted.failures) {
    annotations[std::string(keys::kJobIndexFailures)] = std::to_string(*wanted.failures);
    if (wanted.ignored_failures > 0) {
      annotations[std::string(keys::kJobIndexIgnoredFailures)] =
          std::to_string(wanted.ignored_failures);
    }
  }
  set_path(pod, {"metadata", "generateName"}, Json(name_prefix(job->name(), wanted.index)));
  set_path(pod, {"metadata", "labels"}, to_json_object(labels));
  if (!annotations.empty()) set_path(pod, {"metadata", "annotations"}, to_json_object(annotations));
  set_path(pod, {"metadata", "finalizers"}, JsonArray{Json(keys::kJobTracking)});
  set_path(pod, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*job.object())});
  if (wanted.index) add_index(pod, job->name(), *wanted.index);
  return pod;
}

}  // namespace krater::controllers
