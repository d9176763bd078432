#include <cstdio>

#include "bench/load/commands.h"
#include "bench/load/objects.h"
#include "bench/load/runner.h"
#include "bench/load/tls_peer.h"

namespace krater::bench {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/default/pods?labelSelector=app%3Dload";

struct Rate {
  double megabytes_per_second = 0;
  double server_ms = 0;  // processor time a list
};

Rate print(const std::string& who, Runner::Outcome& out, int repeat) {
  const Rate rate{static_cast<double>(out.reply_bytes) / out.seconds / 1e6,
                  out.server_seconds * 1000 / repeat};
  std::printf(
      "list: %-22s %.1f ms each (p50), %.1f MB a list, %.0f MB/s, %.1f ms of the server's "
      "processors, %d failed\n",
      who.c_str(), out.latencies.at(0.5), static_cast<double>(out.reply_bytes) / repeat / 1e6,
      rate.megabytes_per_second, rate.server_ms, out.failed);
  return rate;
}

}  // namespace

int bench_list(const Target& target, const ListOptions& options) {
  const std::string id = run_id();
  std::string path = kPath;
  if (!options.resource_version.empty()) path += "&resourceVersion=" + options.resource_version;
  auto made = Runner(target).run(64, options.objects, [&](int number) {
    return post("/api/v1/namespaces/default/pods",
                pod("load-" + id + "-" + std::to_string(number)));
  });
  if (options.objects > 0) {
    std::printf("create: %s: %d pods: %.0f/s, %.0f us of the server's processors each, %d failed\n",
                target.name.c_str(), options.objects, options.objects / made.seconds,
                made.server_seconds * 1e6 / options.objects, made.failed);
  }
  const auto lists = [&](const Target& from) {
    return Runner(from).run(1, options.repeat, [&](int) { return get(path); });
  };
  auto ours = lists(target);
  const TlsPeer peer(target.identity, ours.last_body);
  Target bare{"same bytes, bare TLS", peer.url(), target.identity};
  bare.identity.verify = false;
  auto theirs = lists(bare);
  const Rate mine = print(target.name, ours, options.repeat);
  const Rate best = print(bare.name, theirs, options.repeat);
  std::printf("list: %s reaches %.2f of the bare server's rate, at %.2f of its processor time\n",
              target.name.c_str(), mine.megabytes_per_second / best.megabytes_per_second,
              mine.server_ms / best.server_ms);
  return made.failed + ours.failed + theirs.failed == 0 ? 0 : 1;
}

}  // namespace krater::bench
