// How many volumes of a driver a node may have attached (CSINode) and which are attached to it
// beside those that its pods use (VolumeAttachment). Read by all of a session, changed between
// sessions; on the scheduler's loop.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/kinds.h"
#include "model/object.h"

namespace krater::scheduler {

inline const Kind kCsiNodeKind{"storage.k8s.io", "v1", "CSINode", "csinodes", false};
inline const Kind kVolumeAttachmentKind{"storage.k8s.io", "v1", "VolumeAttachment",
                                        "volumeattachments", false};

// One volume, in the eyes of its driver.
struct DriverVolume {
  std::string driver, handle;
  friend auto operator<=>(const DriverVolume&, const DriverVolume&) = default;
};

class VolumeLimits {
 public:
  void set_csi_node(const ObjectPtr& csi_node);
  void remove_csi_node(const std::string& name);
  void set_attachment(const ObjectPtr& attachment);
  void remove_attachment(const std::string& name);
  std::vector<std::string> csi_node_names() const;
  std::vector<std::string> attachment_names() const;

  bool empty() const { return by_node_.empty(); }
  bool limits(const std::string& node) const { return by_node_.contains(node); }
  // Names of the PersistentVolumes that are attached to the node.
  const std::set<std::string>& attached(const std::string& node) const;
  // All of `wanted`, on the node with what is there already.
  bool allows(const std::string& node, const std::set<DriverVolume>& there,
              const std::set<DriverVolume>& wanted) const;

 private:
  struct Attachment {
    std::string node, volume;
  };
  std::set<std::string> csi_nodes_;
  std::map<std::string, std::map<std::string, std::int64_t>> by_node_;  // where there are any
  std::map<std::string, Attachment> attachments_;
  std::map<std::string, std::set<std::string>> attached_;  // by node
};

}  // namespace krater::scheduler
