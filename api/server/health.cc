#include "api/server/health.h"

#include <algorithm>

namespace krater::api {

Response health(std::string_view endpoint, std::string_view check, const Query& query,
                const std::vector<HealthCheck>& checks) {
  const std::vector<std::string> excluded = query.all("exclude");
  std::string lines;
  bool failed = false;
  bool found = check.empty() || check == "ping";
  const auto report = [&](const std::string& name, const std::optional<std::string>& failure) {
    if (!check.empty() && check != name) return;
    found = true;
    if (std::find(excluded.begin(), excluded.end(), name) != excluded.end()) {
      lines += "[+]" + name + " excluded: ok\n";
      return;
    }
    failed = failed || failure.has_value();
    lines += failure ? "[-]" + name + " failed: " + *failure + "\n" : "[+]" + name + " ok\n";
  };
  report("ping", std::nullopt);
  for (const HealthCheck& one : checks) report(one.name, one.failure());
  if (!found) return respond(404, kTextType, "404 page not found\n");
  if (failed) return respond(500, kTextType, lines + std::string(endpoint) + " check failed\n");
  if (query.flag("verbose"))
    return respond(200, kTextType, lines + std::string(endpoint) + " check passed\n");
  return respond(200, kTextType, "ok");
}

}  // namespace krater::api
