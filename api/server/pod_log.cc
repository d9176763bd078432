// pods/log: chooses the container, asks the node's agent through its tunnel, and passes on what it
// sends.
#include <algorithm>
#include <chrono>

#include "api/registry/status.h"
#include "api/server/await.h"
#include "api/server/handlers.h"
#include "api/server/websocket.h"
#include "base/strings.h"
#include "model/kinds.h"
#include "model/mirror.h"

namespace krater::api::handlers {
namespace {

constexpr auto kAnswerWithin = std::chrono::seconds(10);
constexpr auto kKeepWaiting = std::chrono::minutes(10);
constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

std::vector<std::string> names_at(const Json& pod, std::string_view list) {
  std::vector<std::string> out;
  if (const JsonArray* containers = array_at(pod, {"spec", list})) {
    for (const Json& container : *containers) out.push_back(text_at(container, {"name"}));
  }
  return out;
}

std::string bracketed(const std::vector<std::string>& names) {
  return "[" + krater::join(names, " ") + "]";
}

// The container asked for, or the only one. Code::BadRequest with the words of a kubelet.
Result<std::string> choose_container(const Json& pod, const std::string& pod_name,
                                     std::string asked) {
  const std::vector<std::string> main = names_at(pod, "containers");
  const std::vector<std::string> init = names_at(pod, "initContainers");
  const std::vector<std::string> ephemeral = names_at(pod, "ephemeralContainers");
  if (asked.empty()) {
    if (const auto preferred = string_at(pod, {"metadata", "annotations", kDefaultContainer}))
      asked = *preferred;
  }
  if (asked.empty() && main.size() == 1) return main.front();
  std::string choice = ", choose one of: " + bracketed(main);
  if (!init.empty()) choice += " or one of the init containers: " + bracketed(init);
  if (asked.empty())
    return bad_request("a container name must be specified for pod " + pod_name + choice);
  for (const auto* names : {&main, &init, &ephemeral}) {
    if (std::find(names->begin(), names->end(), asked) != names->end()) return asked;
  }
  return bad_request("container " + asked + " is not valid for pod " + pod_name + choice);
}

Error invalid_log_options(std::string field, std::string message) {
  return invalid_options("PodLogOptions",
                         {{"FieldValueInvalid", std::move(message), std::move(field)}});
}

Result<tunnel::LogRequest> log_request_of(const Query& query) {
  tunnel::LogRequest out;
  out.follow = query.flag("follow");
  out.previous = query.flag("previous");
  out.timestamps = query.flag("timestamps");
  TRY_ASSIGN(out.tail_lines, query.integer("tailLines", INT64_MIN));
  TRY_ASSIGN(out.since_seconds, query.integer("sinceSeconds", INT64_MIN));
  TRY_ASSIGN(out.limit_bytes, query.integer("limitBytes", INT64_MIN));
  if (out.tail_lines.value_or(0) < 0)
    return invalid_log_options("tailLines", "Invalid value: " + std::to_string(*out.tail_lines) +
                                                ": must be greater than or equal to 0");
  if (out.since_seconds.value_or(1) < 1)
    return invalid_log_options(
        "sinceSeconds",
        "Invalid value: " + std::to_string(*out.since_seconds) + ": must be greater than 0");
  if (out.limit_bytes.value_or(1) < 1)
    return invalid_log_options("limitBytes", "Invalid value: " + std::to_string(*out.limit_bytes) +
                                                 ": must be greater than 0");
  const std::string since(query.first("sinceTime"));
  if (since.empty()) return out;
  if (out.since_seconds)
    return invalid_options(
        "PodLogOptions",
        {{"FieldValueForbidden",
          "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified", ""}});
  out.since_time = parse_rfc3339(since);
  if (!out.since_time) return bad_request("invalid sinceTime: \"" + since + "\"");
  return out;
}

// A node that cannot be asked: what a user sees when the agent is away.
Error unreachable(const std::string& node) {
  return internal_error("the node \"" + node +
                        "\" of the pod is not connected: its logs cannot be read now");
}

boost::asio::awaitable<void> relay(std::shared_ptr<TunnelStream> stream, BodyWriter& out) {
  stream->set_notify(out.notifier());
  for (;;) {
    while (auto piece = stream->take()) {
      if (piece->first == tunnel::Channel::Stdout && !co_await out.write(std::move(piece->second)))
        co_return;
    }
    if (out.ending()) co_return;
    // State before a last look at the queue: what came before the end has to go out.
    if (stream->state().ended) {
      while (auto piece = stream->take()) {
        if (!co_await out.write(std::move(piece->second))) co_return;
      }
      co_return;
    }
    co_await out.wait(kKeepWaiting);
  }
}

// What a ComponentLog shows of itself to one request.
class ComponentReader {
 public:
  ComponentReader(std::shared_ptr<ComponentLog> log, tunnel::LogRequest request, WallTime now)
      : log_(std::move(log)), request_(std::move(request)) {
    since_ = request_.since_time;
    if (request_.since_seconds) since_ = now - std::chrono::seconds(*request_.since_seconds);
    if (!request_.tail_lines) return;
    const ComponentLog::Piece all = log_->read(0);
    const auto wanted = static_cast<std::uint64_t>(*request_.tail_lines);
    next_ = all.next > wanted ? all.next - wanted : 0;
  }

  // What has come since; "" when there is nothing.
  std::string more() {
    ComponentLog::Piece piece = log_->read(next_);
    next_ = piece.next;
    std::string out;
    for (const ComponentLog::Line& line : piece.lines) {
      if (since_ && line.time < *since_) continue;
      if (request_.timestamps) out += to_rfc3339_micro(line.time) + " ";
      out += line.text + "\n";
    }
    if (request_.limit_bytes) {
      const auto left = static_cast<std::size_t>(*request_.limit_bytes) - sent_;
      if (out.size() > left) out.resize(left);
      sent_ += out.size();
    }
    return out;
  }
  bool full() const {
    return request_.limit_bytes && sent_ >= static_cast<std::size_t>(*request_.limit_bytes);
  }
  bool follows() const { return request_.follow; }
  ComponentLog::Listening listen(std::function<void()> told) const {
    return log_->listen(std::move(told));
  }

 private:
  std::shared_ptr<ComponentLog> log_;
  tunnel::LogRequest request_;
  std::optional<WallTime> since_{};
  std::uint64_t next_ = 0;
  std::size_t sent_ = 0;
};

boost::asio::awaitable<void> tell(std::shared_ptr<ComponentReader> reader, BodyWriter& out) {
  const ComponentLog::Listening listening = reader->listen(out.notifier());
  for (;;) {
    std::string text = reader->more();
    if (!text.empty()) {
      const bool taken = co_await out.write(std::move(text));
      if (!taken) co_return;
    }
    if (!reader->follows() || reader->full() || out.ending()) co_return;
    co_await out.wait(kKeepWaiting);
  }
}

// Null: the pod mirrors nothing that has a log here.
std::shared_ptr<ComponentLog> component_log(const Deps& deps, const Object& pod) {
  if (!is_mirror(pod)) return nullptr;
  const auto log = deps.component_logs.find(pod.label(kMirrorLabel));
  return log == deps.component_logs.end() ? nullptr : log->second;
}

}  // namespace

Answering pod_log(Deps& deps, Exchange& x) {
  if (const Result<void> origin = check_origin(x.request); wants_websocket(x.request) && !origin)
    co_return respond_error(origin.error());
  Result<tunnel::LogRequest> request = log_request_of(x.request.query);
  if (!request) co_return respond_error(request.error());
  const Result<ObjectPtr> pod = deps.registry.get(kinds::kPod, x.path.name_space, x.path.name);
  if (!pod) co_return respond_error(pod.error());
  const std::shared_ptr<const Json> document = (*pod)->document();
  const Result<std::string> container =
      choose_container(*document, x.path.name, std::string(x.request.query.first("container")));
  if (!container) co_return respond_error(container.error());
  if (auto log = component_log(deps, **pod); log != nullptr) {
    if (request->previous)
      co_return respond_error(bad_request("previous terminated container \"" + *container +
                                          "\" in pod \"" + x.path.name + "\" not found"));
    const auto reader =
        std::make_shared<ComponentReader>(std::move(log), *request, deps.clock.now());
    Response response;
    response.set("Content-Type", "text/plain");
    response.stream = [reader](BodyWriter& out) { return tell(reader, out); };
    co_return response;
  }
  const std::string node = text_at(*document, {"spec", "nodeName"});
  if (node.empty()) {
    // Upstream answers an empty log for a pod that no node has yet.
    co_return respond(200, "text/plain", "");
  }
  const std::shared_ptr<Tunnel> tunnel = deps.tunnels.find(node);
  if (!tunnel) co_return respond_error(unreachable(node));
  request->name_space = x.path.name_space;
  request->pod = x.path.name;
  request->uid = (*pod)->uid().text();
  request->container = *container;

  const auto bell = std::make_shared<Bell>(co_await boost::asio::this_coro::executor);
  const auto stream =
      tunnel->open(tunnel::kLogs, to_json_value(*request), [bell] { bell->ring(); });
  const auto deadline = std::chrono::steady_clock::now() + kAnswerWithin;
  TunnelStream::State state = stream->state();
  while (!state.accepted && !state.ended) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero())
      co_return respond_error(
          make_error(Code::Timeout, "the node \"" + node + "\" did not answer in time"));
    co_await bell->wait(left);
    state = stream->state();
  }
  if (state.failure) co_return respond_error(*state.failure);
  BodyStream body = [stream](BodyWriter& out) { return relay(stream, out); };
  Response response;
  if (wants_websocket(x.request)) {
    const WebSocketAnswer how = choose_protocol(x.request, Framing::AsWritten, true);
    response.upgrade = over_websocket(std::move(body), how);
    co_return response;
  }
  response.set("Content-Type", "text/plain");
  response.stream = std::move(body);
  co_return response;
}

}  // namespace krater::api::handlers
