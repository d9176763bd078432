#include "agent/tunnel/tunnel_client.h"

#include <algorithm>

#include "base/log.h"

namespace krater::agent {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(100),
                   kLastBackoff = std::chrono::seconds(10);
// How soon new lines of a followed log are looked for.
constexpr Duration kFollowPeriod = std::chrono::milliseconds(100);
constexpr Duration kFullPeriod = std::chrono::milliseconds(20);

}  // namespace

TunnelClient::TunnelClient(WebSocketConnector& connector, Loop& loop, const WallClock& clock,
                           Rng& rng, LogLookup lookup, TunnelSettings settings)
    : connector_(connector),
      loop_(loop),
      clock_(clock),
      rng_(rng),
      lookup_(std::move(lookup)),
      settings_(std::move(settings)),
      backoff_(kFirstBackoff) {}

TunnelClient::~TunnelClient() {
  if (retry_ != 0) loop_.cancel(retry_);
  for (const auto& [id, stream] : streams_) loop_.cancel(stream.timer);
}

void TunnelClient::start() {
  connect();
}

void TunnelClient::connect() {
  WebSocketHandlers handlers;
  handlers.on_open = [this] {
    connected_ = true;
    backoff_ = kFirstBackoff;
  };
  handlers.on_message = [this](std::string_view message) { receive(message); };
  handlers.on_close = [this](const Result<void>& end) { closed(end); };
  socket_ = connector_.connect(settings_.url, {}, std::move(handlers));
}

void TunnelClient::closed(const Result<void>& end) {
  connected_ = false;
  for (const auto& [id, stream] : streams_) loop_.cancel(stream.timer);
  streams_.clear();
  log::debug("agent.tunnel.closed", {{"error", end ? std::string() : end.error().message}});
  const Duration jitter(
      static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(backoff_.count() / 2) + 1)));
  retry_ = loop_.after(backoff_ + jitter, [this] {
    retry_ = 0;
    connect();
  });
  backoff_ = std::min(backoff_ * 2, kLastBackoff);
}

void TunnelClient::receive(std::string_view message) {
  const Result<tunnel::Frame> frame = tunnel::decode(message);
  if (!frame) {
    log::warn("agent.tunnel.frame", {{"error", frame.error().message}});
    return;
  }
  const auto place = streams_.find(frame->stream);
  switch (frame->type) {
    case tunnel::FrameType::Open:
      return open(*frame);
    case tunnel::FrameType::Window:
      if (const Result<std::uint32_t> bytes = tunnel::window_of(*frame);
          bytes && place != streams_.end()) {
        place->second.logs->granted(*bytes);
        step(frame->stream);
      }
      return;
    case tunnel::FrameType::End:
      return drop(frame->stream);
    case tunnel::FrameType::Accept:
    case tunnel::FrameType::Data:
      return;  // logs take no input
  }
}

void TunnelClient::open(const tunnel::Frame& frame) {
  const Result<tunnel::OpenRequest> request = tunnel::open_of(frame);
  if (!request) return send(tunnel::end_frame(frame.stream, request.error()));
  if (request->kind != tunnel::kLogs) {
    return send(tunnel::end_frame(
        frame.stream,
        make_error(Code::MethodNotAllowed, "this node does not serve \"" + request->kind + "\"")));
  }
  if (streams_.size() >= settings_.streams_max) {
    return send(tunnel::end_frame(
        frame.stream, make_error(Code::TooManyRequests, "too many log requests on this node")));
  }
  Result<tunnel::LogRequest> logs = tunnel::log_request(request->params);
  if (!logs) return send(tunnel::end_frame(frame.stream, logs.error()));
  streams_[frame.stream].logs =
      std::make_unique<LogStream>(frame.stream, *std::move(logs), lookup_, clock_.now(),
                                  [this](const tunnel::Frame& out) { send(out); });
  step(frame.stream);
}

void TunnelClient::step(std::uint32_t id) {
  const auto place = streams_.find(id);
  if (place == streams_.end()) return;
  loop_.cancel(std::exchange(place->second.timer, 0));
  const auto again_in = [&](Duration delay) {
    place->second.timer = loop_.after(delay, [this, id] { step(id); });
  };
  // The socket takes what we give it; a slow connection bounds us here.
  if (socket_->queued_bytes() > settings_.queued_bytes_max) return again_in(kFullPeriod);
  switch (place->second.logs->step()) {
    case LogStream::Next::Ended:
      streams_.erase(place);
      return;
    case LogStream::Next::AgainSoon:
      return again_in(kFollowPeriod);
    case LogStream::Next::WaitForWindow:
      return;
  }
}

void TunnelClient::drop(std::uint32_t id) {
  const auto place = streams_.find(id);
  if (place == streams_.end()) return;
  loop_.cancel(place->second.timer);
  streams_.erase(place);
}

void TunnelClient::send(const tunnel::Frame& frame) {
  if (socket_) socket_->send(tunnel::encode(frame));
}

}  // namespace krater::agent
