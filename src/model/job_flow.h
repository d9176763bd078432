// Reading a JobFlow and a JobTemplate (flow.volcano.sh/v1alpha1): Volcano Jobs that wait for each
// other.
#pragma once

#include <string>
#include <vector>

#include "model/object.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kCreatedByJobFlow = "volcano.sh/createdByJobFlow";
inline constexpr std::string_view kCreatedByJobTemplate = "volcano.sh/createdByJobTemplate";
}  // namespace keys

namespace kinds {
extern const Kind kJobFlow, kJobTemplate;
}  // namespace kinds

class JobFlowView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  struct Flow {
    std::string name;  // of a JobTemplate
    std::vector<std::string> targets{};
  };
  std::vector<Flow> flows() const;
  bool deletes_jobs() const { return text({"spec", "jobRetainPolicy"}) == "delete"; }
  std::string phase() const { return text({"status", "state", "phase"}); }
  std::string job_name(std::string_view flow) const {
    return object()->name() + "-" + std::string(flow);
  }
};

}  // namespace krater
