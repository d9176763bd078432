// Which nodes a DaemonSet's pods belong on. Pure.
#pragma once

#include "model/node.h"
#include "model/node_affinity.h"
#include "model/workload.h"

namespace krater::controllers {

// The template with what every daemon gets: tolerations of the troubles a node may have, so that
// daemons stay where others are kept away.
Json daemon_template(const DaemonSetView& set, const Json& pod_template);
// That template bound to one node by required affinity, for the scheduler to place.
void pin_to_node(Json& pod, std::string_view node);
// The node a pod is on, or is pinned to; "" for neither.
std::string node_of_daemon(const Json& pod);

class DaemonPlacement {
 public:
  // `pod_template` as daemon_template() gives it.
  explicit DaemonPlacement(const Json& pod_template);

  struct Verdict {
    bool run = false;   // a pod should be started here
    bool keep = false;  // one that is here may stay
  };
  Verdict judge(const NodeView& node) const;

 private:
  std::string node_name_;
  Labels selector_;
  NodeAffinity affinity_;
  std::vector<Toleration> tolerations_;
};

}  // namespace krater::controllers
