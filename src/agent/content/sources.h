// What a pod refers to: which ConfigMaps, Secrets and tokens, and what was found of them. Pure.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/context.h"
#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater::agent {

struct TokenNeed {
  std::string audience;  // empty: the API server's own
  std::int64_t expiration_seconds = 3607;
  friend auto operator<=>(const TokenNeed&, const TokenNeed&) = default;
};

struct Needs {
  std::set<std::string> config_maps, secrets;  // names in the pod's namespace
  std::set<TokenNeed> tokens;
  std::set<std::string> claims;  // of persistent volumes
};

// A claim as it is, and the volume it has.
struct ClaimSource {
  ObjectPtr claim, volume;  // volume: null while there is none
};

// All that the pod's volumes and this container's environment (nullptr: none) name.
Needs needs_of(const Json& pod, const Json* container);

struct Sources {
  std::map<std::string, ObjectPtr> config_maps, secrets;  // absent: there is none
  std::map<TokenNeed, std::string> tokens;
  std::map<std::string, ClaimSource> claims{};

  // Value of a key; Secrets and binaryData decoded.
  std::optional<std::string> config_value(const std::string& name, std::string_view key) const;
  std::optional<std::string> secret_value(const std::string& name, std::string_view key) const;
  // All keys with their values.
  std::map<std::string, std::string> config_values(const std::string& name) const;
  std::map<std::string, std::string> secret_values(const std::string& name) const;
};

// What fieldRef and resourceFieldRef can ask for.
struct PodFacts {
  const Json& document;  // the pod as it is now
  std::string pod_ip, host_ip;
  const NodeFacts& node;
};

}  // namespace krater::agent
