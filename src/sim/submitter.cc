#include "sim/submitter.h"

#include "model/pod.h"
#include "model/selector.h"
#include "sim/outcome.h"

namespace krater::sim {

std::optional<RaySubmission> submission_of(const Object& pod) {
  const auto document = pod.document();
  const JsonArray* containers = array_at(*document, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return std::nullopt;
  const JsonArray* env = array_at(containers->front(), {"env"});
  if (env == nullptr) return std::nullopt;
  RaySubmission out;
  for (const Json& one : *env) {
    const std::string name = text_at(one, {"name"}), value = text_at(one, {"value"});
    if (name == "RAY_DASHBOARD_ADDRESS") out.service = value.substr(0, value.find('.'));
    if (name == "RAY_JOB_SUBMISSION_ID") out.id = value;
  }
  if (out.service.empty() || out.id.empty()) return std::nullopt;
  return out;
}

std::optional<std::string> address_of(const storage::Snapshot& state, const std::string& name_space,
                                      const std::string& service) {
  const ObjectPtr found = object_at(state, kinds::kService, name_space, service);
  if (!found) return std::nullopt;
  const auto document = found->document();
  const LabelSelector selects =
      LabelSelector::equals(string_map(find(*document, {"spec", "selector"})));
  for (const ObjectPtr& one : objects_of(state, kinds::kPod)) {
    if (one->name_space() != name_space || !selects.matches(one->labels())) continue;
    const PodView pod(one);
    if (pod.phase() == PodPhase::Running && !pod.deleting() && !pod.pod_ip().empty())
      return pod.pod_ip();
  }
  return std::nullopt;
}

}  // namespace krater::sim
