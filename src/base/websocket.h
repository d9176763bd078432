// A WebSocket client connection as an interface (binary messages), so that the agent's tunnel needs
// no socket in tests. src/runtime implements it; everything is called and answered on the owning
// Loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace krater {

struct WebSocketHandlers {
  std::function<void()> on_open{};
  std::function<void(std::string_view message)> on_message{};
  std::function<void(Result<void> end)>
      on_close{};  // once, last; also when the connection could not be opened
};

// Dropping it closes the connection; no handler runs afterwards.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // Queued and sent in order. Ignored after on_close.
  virtual void send(std::string message) = 0;
  // Bytes accepted by send() and not yet written to the socket: what a sender bounds himself by.
  virtual std::size_t queued_bytes() const = 0;
};

class WebSocketConnector {
 public:
  virtual ~WebSocketConnector() = default;
  // `url`: wss://host:port/path or ws://…
  virtual std::unique_ptr<WebSocket> connect(
      std::string url, std::vector<std::pair<std::string, std::string>> headers,
      WebSocketHandlers handlers) = 0;
};

}  // namespace krater
