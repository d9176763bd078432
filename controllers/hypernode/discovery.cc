#include "controllers/hypernode/discovery.h"

#include <algorithm>
#include <set>

#include "base/name_suffix.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "model/hyper_node.h"

namespace krater::controllers::hypernode {
namespace {

constexpr std::size_t kLongestTypeName = 20;

// What is left of a name in the name of an object.
std::string clean(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z',
               digit = c >= '0' && c <= '9';
    out += upper                                    ? static_cast<char>(c - 'A' + 'a')
           : lower || digit || c == '.' || c == '-' ? c
                                                    : '-';
  }
  return out;
}

void add_topology(const std::string& name, const Json& labels, DiscoveryConfig& out) {
  if (name.size() > kLongestTypeName) {
    out.complaints.push_back("the length of topologyTypeName exceeds 20. topologyTypeName is " +
                             name);
    return;
  }
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (std::size_t i = 0; labels.is_array() && i < labels.get_array().size(); ++i) {
    keys.push_back(text_at(labels.get_array()[i], {"nodeLabel"}));
    if (!seen.insert(keys.back()).second) {
      out.complaints.push_back("topology " + name + ": there are duplicate labels");
      return;
    }
  }
  // The last one names the nodes themselves.
  if (!keys.empty()) keys.pop_back();
  std::reverse(keys.begin(), keys.end());
  out.topologies[name] = std::move(keys);
}

// Of those that were discovered before, by a label and its value.
using Given = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

Given given_names(const DiscoveryConfig& config, const std::vector<ObjectPtr>& existing) {
  std::set<std::string> keys;
  for (const auto& [topology, labels] : config.topologies)
    keys.insert(labels.begin(), labels.end());
  Given out;
  for (const ObjectPtr& one : existing) {
    if (one->label(kSourceLabel) != kSource) continue;
    for (const auto& [key, value] : one->labels()) {
      if (keys.contains(key)) out[{key, value}].push_back(one->name());
    }
  }
  return out;
}

// A name that was given before is kept.
std::string name_of(const std::string& topology, const Discovered& found, const Given& given) {
  const std::string prefix = "hypernode-" + clean(topology) + "-tier" + std::to_string(found.tier);
  if (const auto names = given.find({found.label, found.value}); names != given.end()) {
    for (const std::string& name : names->second) {
      if (name.starts_with(prefix)) return name;
    }
  }
  return prefix + "-" + name_suffix(fnv1a(found.label + "=" + found.value));
}

}  // namespace

Result<DiscoveryConfig> parse_discovery(std::string_view yaml) {
  TRY_ASSIGN(const Json root, parse_yaml(yaml));
  DiscoveryConfig out;
  if (root.is_null()) return out;
  const JsonArray* sources = array_at(root, {"networkTopologyDiscovery"});
  if (!root.is_object() ||
      (sources == nullptr && find(root, {"networkTopologyDiscovery"}) != nullptr))
    return make_error(Code::Invalid, "networkTopologyDiscovery must be a list of sources");
  for (std::size_t i = 0; sources != nullptr && i < sources->size(); ++i) {
    const Json& one = (*sources)[i];
    if (!bool_at(one, {"enabled"}).value_or(false)) continue;
    const std::string source = text_at(one, {"source"});
    if (source != kSource) {
      out.complaints.push_back("source \"" + source + "\" is not discovered here");
      continue;
    }
    out.enabled = true;
    const Json* types = find(one, {"config", "networkTopologyTypes"});
    if (types == nullptr || !types->is_object()) {
      out.complaints.push_back("source label: config.networkTopologyTypes is missing");
      continue;
    }
    for (const auto& type : types->get_object())
      add_topology(std::string(type.key().data(), type.key().size()), type.value(), out);
  }
  return out;
}

std::map<std::string, Discovered> discover(const DiscoveryConfig& config,
                                           const std::map<std::string, const Labels*>& nodes,
                                           const std::vector<ObjectPtr>& existing) {
  std::map<std::string, Discovered> out;
  const Given given = given_names(config, existing);
  // A label's value is one HyperNode, whatever topology it was seen in first.
  std::map<std::pair<std::string, std::string>, std::string> named;
  std::map<std::string, std::set<std::string>> members;
  for (const auto& [node, labels] : nodes) {
    for (const auto& [topology, keys] : config.topologies) {
      std::string member = node;
      for (std::size_t tier = 0; tier < keys.size(); ++tier) {
        const auto label = labels->find(keys[tier]);
        if (label == labels->end()) break;
        Discovered found{static_cast<std::int64_t>(tier) + 1, keys[tier], label->second, {}};
        const auto [known, fresh] = named.try_emplace({keys[tier], label->second});
        if (fresh) known->second = name_of(topology, found, given);
        out.try_emplace(known->second, std::move(found));
        members[known->second].insert(member);
        member = known->second;
      }
    }
  }
  for (auto& [name, found] : out) found.members.assign(members[name].begin(), members[name].end());
  return out;
}

Json hyper_node_object(const std::string& name, const Discovered& found) {
  Json out = new_object(kinds::kHyperNode, "", name);
  set_path(out, {"metadata", "labels", kSourceLabel}, Json(kSource));
  set_path(out, {"metadata", "labels", found.label}, Json(found.value));
  JsonArray members;
  for (const std::string& one : found.members) {
    Json member(boost::json::object_kind);
    set_path(member, {"type"}, Json(found.tier == 1 ? "Node" : "HyperNode"));
    set_path(member, {"selector", "exactMatch", "name"}, Json(one));
    members.push_back(std::move(member));
  }
  set_path(out, {"spec", "tier"}, Json(found.tier));
  set_path(out, {"spec", "tierName"}, Json(found.label));
  set_path(out, {"spec", "members"}, std::move(members));
  return out;
}

}  // namespace krater::controllers::hypernode
