#include "api/server/tunnel_hub.h"

#include <utility>

namespace krater::api {

using tunnel::Frame;
using tunnel::FrameType;

TunnelStream::~TunnelStream() {
  if (state_.ended) return;
  if (const auto link = link_.lock()) link->send(tunnel::end_frame(id_, std::nullopt));
}

TunnelStream::State TunnelStream::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::optional<std::pair<tunnel::Channel, std::string>> TunnelStream::take() {
  std::unique_lock lock(mutex_);
  if (received_.empty()) return std::nullopt;
  auto piece = std::move(received_.front());
  received_.pop_front();
  const std::uint32_t granted = window_.consume(piece.second.size());
  const bool ended = state_.ended;
  lock.unlock();
  if (granted != 0 && !ended) {
    if (const auto link = link_.lock()) link->send(tunnel::window_frame(id_, granted));
  }
  return piece;
}

void TunnelStream::set_notify(std::function<void()> notify) {
  const std::lock_guard lock(mutex_);
  notify_ = std::move(notify);
}

bool TunnelStream::receive(const Frame& frame) {
  std::unique_lock lock(mutex_);
  if (state_.ended) return true;  // crossed our End on its way
  switch (frame.type) {
    case FrameType::Accept:
      state_.accepted = true;
      break;
    case FrameType::Data: {
      const Result<tunnel::DataView> data = tunnel::data_of(frame);
      if (!data || !window_.receive(data->bytes.size())) return false;
      received_.emplace_back(data->channel, std::string(data->bytes));
      break;
    }
    case FrameType::End:
      state_.ended = true;
      state_.failure = tunnel::failure_of(frame);
      break;
    case FrameType::Window:
      return true;  // we send no Data yet
    case FrameType::Open:
      return false;
  }
  const std::function<void()> notify = notify_;
  lock.unlock();
  if (notify) notify();
  return true;
}

void TunnelStream::fail(const Error& error) {
  std::unique_lock lock(mutex_);
  if (state_.ended) return;
  state_.ended = true;
  state_.failure = error;
  const std::function<void()> notify = notify_;
  lock.unlock();
  if (notify) notify();
}

std::shared_ptr<TunnelStream> Tunnel::open(std::string_view kind, Json params,
                                           std::function<void()> notify) {
  std::shared_ptr<TunnelStream> stream;
  bool closed = false;
  {
    const std::lock_guard lock(mutex_);
    stream = std::make_shared<TunnelStream>(++last_id_, link_, std::move(notify));
    streams_[stream->id()] = stream;
    closed = closed_;
  }
  if (closed || !link_->send(tunnel::open_frame(stream->id(), kind, std::move(params)))) {
    stream->fail(make_error(Code::Unavailable, "the node's agent is not connected"));
  }
  return stream;
}

std::shared_ptr<TunnelStream> Tunnel::find(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return nullptr;
  std::shared_ptr<TunnelStream> stream = found->second.lock();
  if (!stream) streams_.erase(found);
  return stream;
}

Result<void> Tunnel::receive(std::string_view message) {
  TRY_ASSIGN(Frame frame, tunnel::decode(message));
  const std::shared_ptr<TunnelStream> stream = find(frame.stream);
  if (!stream) {
    const std::lock_guard lock(mutex_);
    // Of a stream that was dropped here: late frames are normal. Of one that never was: not.
    if (frame.stream == 0 || frame.stream > last_id_)
      return make_error(Code::BadRequest, "tunnel: unknown stream");
    return {};
  }
  if (!stream->receive(frame))
    return make_error(Code::BadRequest, "tunnel: the agent broke the protocol");
  if (frame.type == FrameType::End) {
    const std::lock_guard lock(mutex_);
    streams_.erase(frame.stream);
  }
  return {};
}

void Tunnel::close() {
  std::map<std::uint32_t, std::weak_ptr<TunnelStream>> open;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    open = std::exchange(streams_, {});
  }
  for (const auto& [id, weak] : open) {
    if (const auto stream = weak.lock())
      stream->fail(make_error(Code::Unavailable, "the node's agent has disconnected"));
  }
}

void TunnelHub::add(const std::string& node, std::shared_ptr<Tunnel> tunnel) {
  const std::lock_guard lock(mutex_);
  nodes_[node] = std::move(tunnel);
}

void TunnelHub::add_pool(const std::string& prefix, std::shared_ptr<Tunnel> tunnel) {
  const std::lock_guard lock(mutex_);
  pools_[prefix] = std::move(tunnel);
}

void TunnelHub::remove_from(Map& map, const std::string& name,
                            const std::shared_ptr<Tunnel>& tunnel) {
  const auto found = map.find(name);
  if (found != map.end() && found->second == tunnel) map.erase(found);
}

void TunnelHub::remove(const std::string& node, const std::shared_ptr<Tunnel>& tunnel) {
  const std::lock_guard lock(mutex_);
  remove_from(nodes_, node, tunnel);
}

void TunnelHub::remove_pool(const std::string& prefix, const std::shared_ptr<Tunnel>& tunnel) {
  const std::lock_guard lock(mutex_);
  remove_from(pools_, prefix, tunnel);
}

std::shared_ptr<Tunnel> TunnelHub::find(std::string_view node) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = nodes_.find(node); found != nodes_.end()) return found->second;
  for (const auto& [prefix, tunnel] : pools_) {
    if (node == prefix || (node.starts_with(prefix) && node.substr(prefix.size()).starts_with('-')))
      return tunnel;
  }
  return nullptr;
}

std::size_t TunnelHub::size() const {
  const std::lock_guard lock(mutex_);
  return nodes_.size() + pools_.size();
}

}  // namespace krater::api
