// The agent's end of the tunnel: dials the server, stays connected, serves the log requests that
// come. On the agent's loop; the number of streams and the bytes in flight are bounded.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/tunnel/log_stream.h"
#include "base/env.h"
#include "base/websocket.h"

namespace krater::agent {

struct TunnelSettings {
  std::string url;  // wss://HOST:PORT/krater/v1/tunnel?node=NAME
  std::size_t streams_max = 256;
  std::size_t queued_bytes_max = 4 << 20;
};

class TunnelClient {
 public:
  TunnelClient(WebSocketConnector& connector, Loop& loop, const WallClock& clock, Rng& rng,
               LogLookup lookup, TunnelSettings settings);
  ~TunnelClient();
  TunnelClient(const TunnelClient&) = delete;
  TunnelClient& operator=(const TunnelClient&) = delete;

  void start();
  bool connected() const { return connected_; }

 private:
  struct Stream {
    std::unique_ptr<LogStream> logs;
    Loop::TimerId timer = 0;
  };
  void connect();
  void closed(const Result<void>& end);
  void receive(std::string_view message);
  void open(const tunnel::Frame& frame);
  void step(std::uint32_t id);
  void drop(std::uint32_t id);
  void send(const tunnel::Frame& frame);

  WebSocketConnector& connector_;
  Loop& loop_;
  const WallClock& clock_;
  Rng& rng_;
  LogLookup lookup_;
  TunnelSettings settings_;
  std::unique_ptr<WebSocket> socket_;
  std::map<std::uint32_t, Stream> streams_;
  bool connected_ = false;
  Duration backoff_;
  Loop::TimerId retry_ = 0;
};

}  // namespace krater::agent
