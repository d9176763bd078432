// Which pods belong together by their Services and their workload: those that state no topology
// spread of their own are spread over hosts and zones, softly, as kube-scheduler's system defaults
// (and with them Volcano's nodeorder) do. Pure but for the objects it is told of; part of the
// Cache.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/object.h"
#include "model/selector.h"
#include "model/workload_kinds.h"
#include "scheduler/pod_terms.h"

namespace krater::scheduler {

inline const Kind kReplicationControllerKind{"", "v1", "ReplicationController",
                                             "replicationcontrollers", true};

class SpreadDefaults {
 public:
  // Service, ReplicaSet, StatefulSet, ReplicationController.
  void set(const ObjectPtr& object);
  void remove(const Kind& kind, const std::string& name_space, const std::string& name);
  std::vector<std::pair<std::string, std::string>> names(const Kind& kind) const;

  // Selects those that belong with the pod, in the query form; "": nobody is known to.
  std::string selector_for(const Object& pod) const;

 private:
  using Place = std::pair<std::string, std::string>;                         // namespace, name
  using Mark = std::pair<std::string, std::pair<std::string, std::string>>;  // namespace, label

  std::map<Place, Labels> services_;
  std::multimap<Mark, Place> by_label_;  // by the first label of its selector
  std::map<std::string, std::map<Place, std::string>> workloads_;  // by kind: selector as text
};

// The two soft constraints, for those that the selector means.
std::vector<SpreadConstraint> default_spread(const LabelSelector& selector);

}  // namespace krater::scheduler
