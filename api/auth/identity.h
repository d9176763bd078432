// Who asks. A value; any thread.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace krater::api {

inline constexpr std::string_view kMastersGroup = "system:masters";
inline constexpr std::string_view kNodesGroup = "system:nodes";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kBootstrappersGroup = "system:bootstrappers";
inline constexpr std::string_view kNodeUserPrefix = "system:node:";
inline constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";
// `krater:node-pool:sim`: this credential stands for every node whose name is `sim` or starts with
// `sim-`. One agent that simulates a thousand nodes holds one certificate, not a thousand.
inline constexpr std::string_view kNodePoolPrefix = "krater:node-pool:";

struct Identity {
  std::string user;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  bool in(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
  bool anonymous() const { return in(kUnauthenticatedGroup); }
};

inline Identity anonymous_identity() {
  return {"system:anonymous", {}, {std::string(kUnauthenticatedGroup)}, {}};
}

// authentication.k8s.io UserInfo.
Json user_info(const Identity& identity);

// The nodes an identity may act as: one, or a pool of them. Nothing for anybody else.
class NodeScope {
 public:
  explicit NodeScope(const Identity& identity);
  explicit operator bool() const { return !node_.empty(); }
  bool pool() const { return !pool_.empty(); }
  bool contains(std::string_view node) const;

 private:
  std::string node_, pool_;
};

}  // namespace krater::api
