#include "api/auth/identity.h"

namespace krater::api {

Json user_info(const Identity& identity) {
  JsonObject out{{"username", identity.user}};
  if (!identity.uid.empty()) out["uid"] = identity.uid;
  JsonArray groups;
  for (const std::string& group : identity.groups) groups.emplace_back(group);
  if (!groups.empty()) out["groups"] = std::move(groups);
  JsonObject extra;
  for (const auto& [key, values] : identity.extra) {
    JsonArray list;
    for (const std::string& value : values) list.emplace_back(value);
    extra[key] = std::move(list);
  }
  if (!extra.empty()) out["extra"] = std::move(extra);
  return out;
}

NodeScope::NodeScope(const Identity& identity) {
  if (!identity.in(kNodesGroup) || !identity.user.starts_with(kNodeUserPrefix)) return;
  node_ = identity.user.substr(kNodeUserPrefix.size());
  for (const std::string& group : identity.groups) {
    if (group.starts_with(kNodePoolPrefix)) pool_ = group.substr(kNodePoolPrefix.size());
  }
}

bool NodeScope::contains(std::string_view node) const {
  if (node_.empty() || node.empty()) return false;
  if (node == node_) return true;
  return !pool_.empty() &&
         (node == pool_ || (node.starts_with(pool_) && node.substr(pool_.size()).starts_with('-')));
}

}  // namespace krater::api
