// From the labels of nodes to HyperNodes. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::controllers::hypernode {

inline constexpr std::string_view kSourceLabel = "volcano.sh/network-topology-source";
inline constexpr std::string_view kSource = "label";

struct DiscoveryConfig {
  bool enabled = false;  // source label is
  // By the name of a kind of topology: the labels that make its tiers, the lowest first.
  std::map<std::string, std::vector<std::string>> topologies{};
  std::vector<std::string> complaints{};  // what of it is left out, and why
};
// Code::Invalid when the text is no such configuration.
Result<DiscoveryConfig> parse_discovery(std::string_view yaml);

struct Discovered {
  std::int64_t tier = 1;
  std::string label, value;            // of the nodes in it
  std::vector<std::string> members{};  // by name: nodes in tier 1, HyperNodes above
};
// By name. `existing`: HyperNodes that were discovered before keep their names.
std::map<std::string, Discovered> discover(const DiscoveryConfig& config,
                                           const std::map<std::string, const Labels*>& nodes,
                                           const std::vector<ObjectPtr>& existing);
// Without status.
Json hyper_node_object(const std::string& name, const Discovered& found);

}  // namespace krater::controllers::hypernode
