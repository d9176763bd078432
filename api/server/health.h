// /healthz, /livez, /readyz: named checks, one at a time or all. Pure but for the checks it is
// given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/server/http.h"

namespace krater::api {

struct HealthCheck {
  std::string name;
  // Why it fails; nothing while it is well. Any thread.
  std::function<std::optional<std::string>()> failure;
};

// `endpoint` is "readyz"; `check` is what follows it in the path, "" for all. 200 `ok`, 500 with
// the list of checks when one fails or `verbose` is asked for, 404 for a check that does not exist.
Response health(std::string_view endpoint, std::string_view check, const Query& query,
                const std::vector<HealthCheck>& checks);

}  // namespace krater::api
