#include "model/workload.h"

#include <algorithm>
#include <limits>

#include "base/int_or_percent.h"
#include "base/strings.h"

namespace krater {

std::optional<LabelSelector> WorkloadView::selector() const {
  const Json* written = selector_json();
  if (written == nullptr) return std::nullopt;
  // The eldest of them has plain labels there.
  Result<LabelSelector> parsed = object()->kind() == kinds::kReplicationController.kind
                                     ? LabelSelector::equals(string_map(written))
                                     : LabelSelector::from_object(*written);
  if (!parsed || parsed->empty()) return std::nullopt;
  return *std::move(parsed);
}

const Json& WorkloadView::pod_template() const {
  static const Json kNone(boost::json::object_kind);
  const Json* found = find(document(), {"spec", "template"});
  return found == nullptr ? kNone : *found;
}

std::int64_t ReplicaSetView::revision() const {
  return parse_int(annotation(keys::kDeploymentRevision)).value_or(0);
}

std::int64_t DeploymentView::max_surge() const {
  if (recreates()) return 0;
  const Json* surge = find(document(), {"spec", "strategy", "rollingUpdate", "maxSurge"});
  return int_or_percent(surge, replicas(), Rounding::Up).value_or(0);
}

std::int64_t DeploymentView::max_unavailable() const {
  if (recreates() || replicas() == 0) return 0;
  const Json* missing = find(document(), {"spec", "strategy", "rollingUpdate", "maxUnavailable"});
  std::int64_t out = int_or_percent(missing, replicas(), Rounding::Down).value_or(0);
  if (out == 0 && max_surge() == 0) out = 1;  // both rounded to nothing: it must move all the same
  return std::min(out, replicas());
}

std::optional<std::int64_t> DeploymentView::progress_deadline_s() const {
  const auto seconds = integer({"spec", "progressDeadlineSeconds"});
  if (seconds == std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return seconds;
}

std::int64_t DaemonSetView::max_surge(std::int64_t nodes) const {
  if (updates_on_delete()) return 0;
  const Json* surge = find(document(), {"spec", "updateStrategy", "rollingUpdate", "maxSurge"});
  return int_or_percent(surge, nodes, Rounding::Up).value_or(0);
}

std::int64_t DaemonSetView::max_unavailable(std::int64_t nodes) const {
  if (updates_on_delete()) return 0;
  const Json* missing =
      find(document(), {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"});
  const std::int64_t out = int_or_percent(missing, nodes, Rounding::Up).value_or(1);
  return out == 0 && max_surge(nodes) == 0 ? 1 : out;
}

}  // namespace krater
