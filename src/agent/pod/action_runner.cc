#include "agent/pod/action_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "agent/net/grpc_health.h"
#include "agent/net/tcp_dialer.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

using Done = std::function<void(const ActionOutcome&)>;

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void run_exec(Context& context, const PodSpec& pod, const std::string& container,
              const ActionSpec& action, int timeout_seconds, Done done) {
  context.runtime.exec(
      pod.uid, container, action.command, timeout_seconds,
      [done = std::move(done), timeout_seconds](Result<ExecResult> result) {
        if (!result) return done({false, result.error().message});
        if (result->timed_out)
          return done({false, fmt::format("command timed out after {}s", timeout_seconds)});
        if (result->exit_code != 0) {
          std::string output = result->output;
          while (!output.empty() && output.back() == '\n') output.pop_back();
          return done({false, output.empty()
                                  ? fmt::format("command exited with {}", result->exit_code)
                                  : output});
        }
        done({true, {}});
      });
}

void run_http(Context& context, const ActionSpec& action, const std::string& host,
              int timeout_seconds, Done done) {
  HttpRequest request;
  request.url =
      fmt::format("{}://{}:{}{}", action.scheme, bracketed(host), action.port, action.path);
  request.headers = action.headers;
  const auto unless_given = [&](std::string_view name, std::string_view value) {
    if (std::ranges::none_of(action.headers, [&](const auto& header) {
          return to_lower(header.first) == to_lower(name);
        }))
      request.headers.emplace_back(name, value);
  };
  unless_given("User-Agent", action.hook ? "kube-lifecycle/1.32" : "kube-probe/1.32");
  unless_given("Accept", "*/*");
  request.timeout = std::chrono::seconds(timeout_seconds);
  request.max_reply_bytes = 64 << 10;
  // The exchange lives until it has answered.
  auto holder = std::make_shared<std::unique_ptr<HttpExchange>>();
  *holder =
      context.http->send(std::move(request), [holder, done = std::move(done), &loop = context.loop,
                                              any = action.hook](Result<HttpResponse> reply) {
        loop.post([holder] { holder->reset(); });
        if (!reply && reply.error().code == Code::TooLarge) return done({true, {}});
        if (!reply) return done({false, reply.error().message});
        if (any || (reply->status >= 200 && reply->status < 400)) return done({true, {}});
        done({false, fmt::format("HTTP probe failed with statuscode: {}", reply->status)});
      });
}

}  // namespace

void run_action(Context& context, const PodSpec& pod, const std::string& container,
                const ActionSpec& action, const std::string& pod_ip, int timeout_seconds,
                Done done) {
  const std::string& host = action.host.empty() ? pod_ip : action.host;
  using Kind = ActionSpec::Kind;
  const bool dials =
      action.kind == Kind::Http || action.kind == Kind::Tcp || action.kind == Kind::Grpc;
  if (dials && (context.http == nullptr || context.dialer == nullptr || context.grpc == nullptr)) {
    // Simulated containers listen nowhere; they are as well as can be.
    context.loop.post([done = std::move(done)] { done({true, {}}); });
    return;
  }
  switch (action.kind) {
    case ActionSpec::Kind::Exec:
      return run_exec(context, pod, container, action, timeout_seconds, std::move(done));
    case ActionSpec::Kind::Http:
      return run_http(context, action, host, timeout_seconds, std::move(done));
    case ActionSpec::Kind::Tcp:
      return context.dialer->try_connect(
          host, action.port, std::chrono::seconds(timeout_seconds),
          [done = std::move(done)](Result<void> connected) {
            done({connected.has_value(), connected ? std::string() : connected.error().message});
          });
    case ActionSpec::Kind::Grpc:
      return context.grpc->check(host, action.port, action.service,
                                 std::chrono::seconds(timeout_seconds),
                                 [done = std::move(done)](const HealthAnswer& answer) {
                                   done({answer.serving, answer.why});
                                 });
    case ActionSpec::Kind::Sleep:
      context.loop.after(std::chrono::seconds(std::min(action.seconds, timeout_seconds)),
                         [done = std::move(done)] {
                           done({true, {}});
                         });
      return;
    case ActionSpec::Kind::Unsupported:
      context.loop.post([done = std::move(done)] {
        done({false, "this kind of probe or hook is not known to the agent"});
      });
      return;
  }
}

}  // namespace krater::agent
