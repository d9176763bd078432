// The load generator: drives a running server over HTTPS with many clients on one loop and prints
// what it measured.
//   krater-load --kubeconfig FILE create --clients 64 --requests 20000 --bytes 1024
//   krater-load --kubeconfig FILE list --objects 10000 --repeat 10
//   krater-load --kubeconfig FILE watch --watchers 1000 --writes 200
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "client/http_object_client.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"
#include "runtime/system.h"

namespace krater::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Latencies {
  std::vector<double> ms;
  void add(Clock::time_point start) { ms.push_back(seconds_since(start) * 1000); }
  double at(double quantile) {
    if (ms.empty()) return 0;
    const auto place =
        ms.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(ms.size() - 1));
    std::nth_element(ms.begin(), place, ms.end());
    return *place;
  }
};

struct Target {
  std::string url;
  runtime::TlsIdentity identity;
};

Target target_of(const std::string& kubeconfig_path) {
  std::FILE* file = std::fopen(kubeconfig_path.c_str(), "r");
  CHECK_MSG(file != nullptr, kubeconfig_path);
  std::string text;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, got);
  std::fclose(file);
  const Result<Json> parsed = parse_yaml(text);
  CHECK_MSG(parsed.has_value(), kubeconfig_path);
  const Json& cluster = array_at(*parsed, {"clusters"})->at(0);
  const Json& user = array_at(*parsed, {"users"})->at(0);
  const auto pem = [](const Json& from, JsonPath path) {
    return base64_decode(text_at(from, path)).value();
  };
  return {text_at(cluster, {"cluster", "server"}),
          {pem(cluster, {"cluster", "certificate-authority-data"}),
           pem(user, {"user", "client-certificate-data"}), pem(user, {"user", "client-key-data"})}};
}

// Keeps `clients` requests under way until `requests` have been answered.
class Runner {
 public:
  Runner(const Target& target)
      : http_(runtime::make_http_client(loop_, target.identity)), url_(target.url) {}

  struct Outcome {
    double seconds = 0;
    int failed = 0;
    std::size_t reply_bytes = 0;
    Latencies latencies;
  };

  Outcome run(int clients, int requests, const std::function<HttpRequest(int)>& make) {
    Outcome out;
    int sent = 0, answered = 0;
    std::map<int, std::unique_ptr<HttpExchange>> under_way;
    std::function<void()> next = [&] {
      if (sent == requests) return;
      const int number = sent++;
      HttpRequest request = make(number);
      request.url = url_ + request.url;
      request.timeout = std::chrono::seconds(60);
      request.max_reply_bytes = 1 << 30;
      const auto start = Clock::now();
      under_way[number] =
          http_->send(std::move(request), [&, number, start](Result<HttpResponse> reply) {
            const auto handle = std::move(under_way.extract(number).mapped());
            out.latencies.add(start);
            if (!reply || reply->status >= 300) {
              if (out.failed++ == 0)
                std::fprintf(stderr, "first failure: %s\n",
                             reply ? reply->body.c_str() : reply.error().message.c_str());
            } else {
              out.reply_bytes += reply->body.size();
            }
            if (++answered == requests) return loop_.stop();
            next();
          });
    };
    const auto start = Clock::now();
    loop_.post([&] {
      for (int i = 0; i < clients; ++i) next();
    });
    loop_.run();
    out.seconds = seconds_since(start);
    return out;
  }

 private:
  runtime::AsioLoop loop_;
  std::unique_ptr<HttpClient> http_;
  std::string url_;
};

HttpRequest post(std::string path, const Json& body) {
  HttpRequest out;
  out.method = "POST";
  out.url = std::move(path);
  out.headers = {{"Content-Type", "application/json"}};
  out.body = to_json(body);
  return out;
}

Json config_map(const std::string& name, std::size_t bytes) {
  Json out = new_object(kinds::kConfigMap, "default", name);
  set_path(out, {"data", "payload"}, Json(std::string(bytes, 'x')));
  return out;
}

Json pod(const std::string& name) {
  Json out = new_object(kinds::kPod, "default", name);
  set_path(out, {"metadata", "labels", "app"}, "load");
  JsonObject container{
      {"name", "c"}, {"image", "busybox:1.36"}, {"command", JsonArray{"sleep", "3600"}}};
  container["resources"] =
      JsonObject{{"requests", JsonObject{{"cpu", "100m"}, {"memory", "64Mi"}}}};
  set_path(out, {"spec", "schedulerName"}, "nobody");
  set_path(out, {"spec", "containers"}, JsonArray{std::move(container)});
  return out;
}

std::string run_id() {
  return std::to_string(runtime::SystemClock().now().unix_nanos() / 1000000);
}

int bench_create(const Target& target, int clients, int requests, std::size_t bytes) {
  const std::string id = run_id();
  auto out = Runner(target).run(clients, requests, [&](int number) {
    return post("/api/v1/namespaces/default/configmaps",
                config_map("load-" + id + "-" + std::to_string(number), bytes));
  });
  std::printf(
      "create: %d clients, %d objects of %zu bytes: %.0f/s, p50 %.2f ms, p99 %.2f ms, %d failed\n",
      clients, requests, bytes, requests / out.seconds, out.latencies.at(0.5),
      out.latencies.at(0.99), out.failed);
  return out.failed == 0 ? 0 : 1;
}

int bench_list(const Target& target, int objects, int repeat) {
  const std::string id = run_id();
  auto made = Runner(target).run(64, objects, [&](int number) {
    return post("/api/v1/namespaces/default/pods",
                pod("load-" + id + "-" + std::to_string(number)));
  });
  std::printf("create: %d pods: %.0f/s, %d failed\n", objects, objects / made.seconds, made.failed);
  auto out = Runner(target).run(1, repeat, [](int) {
    HttpRequest request;
    request.url = "/api/v1/namespaces/default/pods?labelSelector=app%3Dload";
    return request;
  });
  std::printf("list of %d pods: %.1f ms each (p50), %.1f MB a list, %.0f MB/s, %d failed\n",
              objects, out.latencies.at(0.5), static_cast<double>(out.reply_bytes) / repeat / 1e6,
              static_cast<double>(out.reply_bytes) / out.seconds / 1e6, out.failed);
  return made.failed + out.failed == 0 ? 0 : 1;
}

// The revision of the collection now: where the watches start.
std::string revision_now(const Target& target) {
  runtime::AsioLoop loop;
  const auto http = runtime::make_http_client(loop, target.identity);
  std::string out;
  HttpRequest request;
  request.url = target.url + "/api/v1/namespaces/default/configmaps?limit=1";
  std::unique_ptr<HttpExchange> pending;
  loop.post([&] {
    pending = http->send(std::move(request), [&](const Result<HttpResponse>& reply) {
      CHECK_MSG(reply.has_value(), reply.error().message);
      out = text_at(*parse_json(reply->body), {"metadata", "resourceVersion"});
      loop.stop();
    });
  });
  loop.run();
  return out;
}

// One write, seen by all watchers: how long until the last of them has it.
int bench_watch(const Target& target, int watchers, int writes) {
  runtime::AsioLoop loop;
  const auto http = runtime::make_http_client(loop, target.identity);
  std::vector<std::unique_ptr<HttpExchange>> streams;
  Latencies first, last;
  const std::string id = run_id(), from = revision_now(target);
  int open = 0, seen = 0, number = 0;
  Clock::time_point start;
  std::unique_ptr<HttpExchange> writing;
  std::function<void()> write = [&] {
    if (number == writes) return loop.stop();
    seen = 0;
    HttpRequest request = post("/api/v1/namespaces/default/configmaps",
                               config_map("watched-" + id + "-" + std::to_string(number++), 256));
    request.url = target.url + request.url;
    start = Clock::now();
    writing = http->send(std::move(request), [](const Result<HttpResponse>& reply) {
      CHECK(reply && reply->status == 201);
    });
  };
  const auto on_data = [&](std::string_view data) {
    seen += static_cast<int>(std::count(data.begin(), data.end(), '\n'));
    if (seen == 1) first.add(start);
    if (seen == watchers) {
      last.add(start);
      loop.post(write);
    }
  };
  loop.post([&] {
    for (int i = 0; i < watchers; ++i) {
      HttpRequest request;
      request.url =
          target.url + "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=" + from;
      HttpStreamHandlers handlers;
      handlers.on_head = [&](const HttpResponse& head) {
        CHECK_MSG(head.status == 200, head.body);
        if (++open == watchers) write();
      };
      handlers.on_data = on_data;
      streams.push_back(http->stream(std::move(request), std::move(handlers)));
    }
  });
  loop.run();
  streams.clear();
  std::printf(
      "watch: %d watchers, %d writes: last watcher has it after p50 %.1f ms, p99 %.1f ms (first: "
      "p50 %.1f ms)\n",
      watchers, writes, last.at(0.5), last.at(0.99), first.at(0.5));
  return 0;
}

}  // namespace
}  // namespace krater::bench

int main(int argc, char** argv) {
  using namespace krater::bench;  // NOLINT(google-build-using-namespace)
  CLI::App app("load for a running Krater");
  std::string kubeconfig;
  app.add_option("--kubeconfig", kubeconfig)->required()->check(CLI::ExistingFile);
  app.require_subcommand(1);
  int clients = 64, requests = 20000, objects = 10000, repeat = 10, watchers = 1000, writes = 100;
  std::size_t bytes = 1024;
  CLI::App* create = app.add_subcommand("create", "durable creates a second");
  create->add_option("--clients", clients)->capture_default_str();
  create->add_option("--requests", requests)->capture_default_str();
  create->add_option("--bytes", bytes)->capture_default_str();
  CLI::App* list = app.add_subcommand("list", "lists of many pods");
  list->add_option("--objects", objects)->capture_default_str();
  list->add_option("--repeat", repeat)->capture_default_str();
  CLI::App* watch = app.add_subcommand("watch", "one write to many watchers");
  watch->add_option("--watchers", watchers)->capture_default_str();
  watch->add_option("--writes", writes)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Target target = target_of(kubeconfig);
  if (create->parsed()) return bench_create(target, clients, requests, bytes);
  if (list->parsed()) return bench_list(target, objects, repeat);
  return bench_watch(target, watchers, writes);
}
