#include <cstdio>
#include <string>

#include "base/check.h"
#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"
#include "bench/load/tls_peer.h"

namespace krater::bench {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

void print(const std::string& who, int clients, int requests, Runner::Outcome& out) {
  std::printf(
      "get: %-22s %d clients: %.0f/s, p50 %.2f ms, p99 %.2f ms, %.0f us of the server's processors "
      "each, %d failed\n",
      who.c_str(), clients, requests / out.seconds, out.latencies.at(0.5), out.latencies.at(0.99),
      out.server_seconds * 1e6 / requests, out.failed);
}

}  // namespace

int bench_get(const Target& target, const GetOptions& options) {
  const std::string name = "got-" + run_id();
  const auto made = Runner(target).run(1, 1, [&](int) { return post(kPods, pod(name)); });
  CHECK(made.failed == 0);
  const auto gets = [&](const Target& from, int clients, int requests) {
    return Runner(from).run(clients, requests,
                            [&](int) { return get(std::string(kPods) + "/" + name); });
  };
  // The bare server serves one connection at a time.
  const int alone = options.requests / 4 + 1;
  auto one = gets(target, 1, alone);
  const TlsPeer peer(target.identity, one.last_body);
  Target bare{"same bytes, bare TLS", peer.url(), target.identity};
  bare.identity.verify = false;
  auto least = gets(bare, 1, alone);
  auto many = gets(target, options.clients, options.requests);
  print(target.name, 1, alone, one);
  print(bare.name, 1, alone, least);
  print(target.name, options.clients, options.requests, many);
  std::printf("get: %s reaches %.2f of the bare server's rate with one client\n",
              target.name.c_str(), least.seconds / one.seconds);
  return one.failed + least.failed + many.failed == 0 ? 0 : 1;
}

}  // namespace krater::bench
