#include <cstdio>

#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"

namespace krater::bench {

int bench_create(const Target& target, const CreateOptions& options) {
  const std::string id = run_id();
  auto out = Runner(target).run(options.clients, options.requests, [&](int number) {
    return post("/api/v1/namespaces/default/configmaps",
                config_map("load-" + id + "-" + std::to_string(number), options.bytes));
  });
  std::printf(
      "create: %s: %d clients, %d objects of %zu bytes: %.0f/s, p50 %.2f ms, p99 %.2f ms, %.0f us "
      "of "
      "the server's processors each, %d failed\n",
      target.name.c_str(), options.clients, options.requests, options.bytes,
      options.requests / out.seconds, out.latencies.at(0.5), out.latencies.at(0.99),
      out.server_seconds * 1e6 / options.requests, out.failed);
  return out.failed == 0 ? 0 : 1;
}

}  // namespace krater::bench
