#include "scheduler/volume_limits.h"

#include "base/json.h"

namespace krater::scheduler {

void VolumeLimits::set_csi_node(const ObjectPtr& csi_node) {
  csi_nodes_.insert(csi_node->name());
  by_node_.erase(csi_node->name());
  const auto document = csi_node->document();
  const JsonArray* drivers = array_at(*document, {"spec", "drivers"});
  for (std::size_t i = 0; drivers != nullptr && i < drivers->size(); ++i) {
    const Json& one = (*drivers)[i];
    if (const auto count = int_at(one, {"allocatable", "count"}))
      by_node_[csi_node->name()][text_at(one, {"name"})] = *count;
  }
}

void VolumeLimits::remove_csi_node(const std::string& name) {
  csi_nodes_.erase(name);
  by_node_.erase(name);
}

void VolumeLimits::set_attachment(const ObjectPtr& attachment) {
  remove_attachment(attachment->name());
  const auto document = attachment->document();
  const std::string volume = text_at(*document, {"spec", "source", "persistentVolumeName"});
  const std::string node = text_at(*document, {"spec", "nodeName"});
  attachments_.emplace(attachment->name(), Attachment{node, volume});
  if (!volume.empty()) attached_[node].insert(volume);
}

void VolumeLimits::remove_attachment(const std::string& name) {
  const auto place = attachments_.find(name);
  if (place == attachments_.end()) return;
  const auto of_node = attached_.find(place->second.node);
  if (of_node != attached_.end()) {
    of_node->second.erase(place->second.volume);
    if (of_node->second.empty()) attached_.erase(of_node);
  }
  attachments_.erase(place);
}

std::vector<std::string> VolumeLimits::csi_node_names() const {
  return {csi_nodes_.begin(), csi_nodes_.end()};
}

std::vector<std::string> VolumeLimits::attachment_names() const {
  std::vector<std::string> out;
  for (const auto& [name, one] : attachments_) out.push_back(name);
  return out;
}

const std::set<std::string>& VolumeLimits::attached(const std::string& node) const {
  static const std::set<std::string> kNone;
  const auto place = attached_.find(node);
  return place == attached_.end() ? kNone : place->second;
}

bool VolumeLimits::allows(const std::string& node, const std::set<DriverVolume>& there,
                          const std::set<DriverVolume>& wanted) const {
  const auto limits = by_node_.find(node);
  if (limits == by_node_.end()) return true;
  std::map<std::string, std::int64_t> fresh, all;
  for (const DriverVolume& one : there) ++all[one.driver];
  for (const DriverVolume& one : wanted) {
    if (there.contains(one)) continue;
    ++fresh[one.driver];
    ++all[one.driver];
  }
  for (const auto& [driver, count] : fresh) {
    const auto limit = limits->second.find(driver);
    if (limit != limits->second.end() && all[driver] > limit->second) return false;
  }
  return true;
}

}  // namespace krater::scheduler
