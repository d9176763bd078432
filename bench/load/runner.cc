#include "bench/load/runner.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/load/objects.h"
#include "runtime/asio_loop.h"
#include "runtime/http_client.h"

namespace krater::bench {

Runner::Outcome Runner::run(int clients, int requests,
                            const std::function<HttpRequest(int)>& make) {
  const double before = metric(kServerSeconds);
  Outcome out = send(clients, requests, make);
  out.server_seconds = metric(kServerSeconds) - before;
  return out;
}

double Runner::metric(std::string_view name) {
  const std::string line = "\n" + std::string(name) + " ";
  const Outcome metrics = send(1, 1, [](int) { return get("/metrics"); });
  const std::size_t at = metrics.last_body.find(line);
  return at == std::string::npos ? 0 : std::atof(metrics.last_body.c_str() + at + line.size());
}

Runner::Outcome Runner::send(int clients, int requests,
                             const std::function<HttpRequest(int)>& make) {
  if (requests == 0) return {};
  runtime::AsioLoop loop;
  const auto http = runtime::make_http_client(loop, target_.identity);
  Outcome out;
  int sent = 0, answered = 0;
  std::map<int, std::unique_ptr<HttpExchange>> under_way;
  std::function<void()> next = [&] {
    if (sent == requests) return;
    const int number = sent++;
    HttpRequest request = make(number);
    request.url = target_.url + request.url;
    request.timeout = std::chrono::seconds(60);
    request.max_reply_bytes = 1 << 30;
    const auto start = Clock::now();
    under_way[number] =
        http->send(std::move(request), [&, number, start](Result<HttpResponse> reply) {
          const auto handle = std::move(under_way.extract(number).mapped());
          out.latencies.add(start);
          if (!reply || reply->status >= 300) {
            if (out.failed++ == 0)
              std::fprintf(stderr, "first failure: %s\n",
                           reply ? reply->body.c_str() : reply.error().message.c_str());
          } else {
            out.reply_bytes += reply->body.size();
            out.last_body = std::move(reply->body);
          }
          if (++answered == requests) return loop.stop();
          next();
        });
  };
  const auto start = Clock::now();
  loop.post([&] {
    for (int i = 0; i < clients; ++i) next();
  });
  loop.run();
  out.seconds = seconds_since(start);
  return out;
}

}  // namespace krater::bench
