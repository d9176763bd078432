#include "model/job_flow.h"

namespace krater {

const Kind kinds::kJobFlow{"flow.volcano.sh", "v1alpha1", "JobFlow", "jobflows", true};
const Kind kinds::kJobTemplate{"flow.volcano.sh", "v1alpha1", "JobTemplate", "jobtemplates", true};

std::vector<JobFlowView::Flow> JobFlowView::flows() const {
  std::vector<Flow> out;
  const JsonArray* list = array_at(document(), {"spec", "flows"});
  if (list == nullptr) return out;
  for (const Json& json : *list) {
    Flow flow{text_at(json, {"name"})};
    if (const JsonArray* targets = array_at(json, {"dependsOn", "targets"})) {
      for (const Json& target : *targets) {
        if (target.is_string()) flow.targets.emplace_back(view(target.get_string()));
      }
    }
    out.push_back(std::move(flow));
  }
  return out;
}

}  // namespace krater
