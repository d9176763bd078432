// The agents that are connected, by node, and the streams opened to them. See api/server/tunnel.md.
// Any thread; each stream is used by one coroutine.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "model/tunnel.h"

namespace krater::api {

// How a tunnel sends a frame to its agent. Any thread; false once the connection is gone.
class TunnelLink {
 public:
  virtual ~TunnelLink() = default;
  virtual bool send(tunnel::Frame frame) = 0;
};

// The server's end of one stream. What it has received and nobody took yet is bounded by the
// stream's window.
class TunnelStream {
 public:
  struct State {
    bool accepted = false;
    bool ended = false;
    std::optional<Error> failure{};  // of an ended stream
  };

  TunnelStream(std::uint32_t id, std::weak_ptr<TunnelLink> link, std::function<void()> notify)
      : id_(id), link_(std::move(link)), notify_(std::move(notify)) {}
  // Tells the agent when the stream is dropped before its end.
  ~TunnelStream();

  std::uint32_t id() const { return id_; }
  State state() const;
  // The next piece of Data, and the window back to the agent; nothing while there is none.
  std::optional<std::pair<tunnel::Channel, std::string>> take();
  // Called after anything changed. Replaces the one given before.
  void set_notify(std::function<void()> notify);

  // From the tunnel's reader. False: the agent broke the protocol.
  bool receive(const tunnel::Frame& frame);
  void fail(const Error& error);

 private:
  const std::uint32_t id_;
  const std::weak_ptr<TunnelLink> link_;
  mutable std::mutex mutex_;
  std::function<void()> notify_;
  State state_;
  std::deque<std::pair<tunnel::Channel, std::string>> received_;
  tunnel::ReceiveWindow window_;
};

// One connected agent.
class Tunnel {
 public:
  explicit Tunnel(std::shared_ptr<TunnelLink> link) : link_(std::move(link)) {}
  std::shared_ptr<TunnelStream> open(std::string_view kind, Json params,
                                     std::function<void()> notify);
  // Code::BadRequest: the connection must end.
  Result<void> receive(std::string_view message);
  // Every open stream ends with Code::Unavailable.
  void close();

 private:
  std::shared_ptr<TunnelStream> find(std::uint32_t id);

  std::shared_ptr<TunnelLink> link_;
  std::mutex mutex_;
  std::uint32_t last_id_ = 0;
  bool closed_ = false;
  std::map<std::uint32_t, std::weak_ptr<TunnelStream>> streams_;
};

class TunnelHub {
 public:
  // A node's newer tunnel replaces its older one, which is closed by its agent's reconnect.
  void add(const std::string& node, std::shared_ptr<Tunnel> tunnel);
  void remove(const std::string& node, const std::shared_ptr<Tunnel>& tunnel);
  // The tunnel of a node, or of the pool that stands for it: node `sim-12` is served by a tunnel
  // registered as `sim` when it was registered as a pool. Null when none is connected.
  std::shared_ptr<Tunnel> find(std::string_view node) const;
  void add_pool(const std::string& prefix, std::shared_ptr<Tunnel> tunnel);
  void remove_pool(const std::string& prefix, const std::shared_ptr<Tunnel>& tunnel);
  std::size_t size() const;

 private:
  using Map = std::map<std::string, std::shared_ptr<Tunnel>, std::less<>>;
  static void remove_from(Map& map, const std::string& name, const std::shared_ptr<Tunnel>& tunnel);

  mutable std::mutex mutex_;
  Map nodes_, pools_;
};

}  // namespace krater::api
