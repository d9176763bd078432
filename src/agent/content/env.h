// A container's environment: $(VAR) expansion, values from ConfigMaps, Secrets, the pod and its
// resources, and the addresses of services. Mirrors a kubelet's makeEnvironmentVariables. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/content/sources.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::agent {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Replaces $(NAME) by what `lookup` finds, leaves unknown references as they are, and reads $$ as
// $.
std::string expand(std::string_view text,
                   const std::function<std::optional<std::string>(std::string_view)>& lookup);
std::string expand(std::string_view text, const Environment& environment);

// Names are unique; user's entries in order, then those of services that nothing else defines.
// Code::Invalid when something that is referred to, and not optional, is missing.
Result<Environment> container_environment(const Json& container, const PodFacts& pod,
                                          const Sources& sources, const Environment& services);

}  // namespace krater::agent
