// Reading a Node and its Lease.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"
#include "model/pod.h"
#include "model/resource_list.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kNodeLeaseNamespace = "kube-node-lease";
inline constexpr std::string_view kTaintNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kTaintUnreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kTaintUnschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kTaintMemoryPressure = "node.kubernetes.io/memory-pressure";
inline constexpr std::string_view kTaintDiskPressure = "node.kubernetes.io/disk-pressure";
inline constexpr std::string_view kTaintPidPressure = "node.kubernetes.io/pid-pressure";
inline constexpr std::string_view kTaintNetworkUnavailable =
    "node.kubernetes.io/network-unavailable";
}  // namespace keys

struct TimedTaint {
  Taint taint;
  std::optional<WallTime> added{};
};

class NodeView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  bool unschedulable() const { return boolean({"spec", "unschedulable"}).value_or(false); }
  std::vector<Taint> taints() const {
    return taints_from(array_at(document(), {"spec", "taints"}));
  }
  std::vector<TimedTaint> timed_taints() const;
  ResourceList allocatable() const {
    return ResourceList::from(find(document(), {"status", "allocatable"}));
  }
  ResourceList capacity() const {
    return ResourceList::from(find(document(), {"status", "capacity"}));
  }
  std::vector<Condition> conditions() const { return conditions_of(document()); }
  std::optional<Condition> condition(std::string_view type) const {
    return condition_of(document(), type);
  }
  // Condition Ready is True.
  bool ready() const;
  // status.addresses: "InternalIP", "Hostname"; "" when there is none.
  std::string address(std::string_view type) const;
};

class LeaseView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::string holder() const { return text({"spec", "holderIdentity"}); }
  std::optional<WallTime> renewed() const { return time({"spec", "renewTime"}); }
};

}  // namespace krater
