// Answers over a WebSocket instead of a chunked body, for browsers: the same streams, a message for
// each piece. On the connection's strand.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/server/http.h"
#include "api/server/upgrade.h"

namespace krater::api {

// Whether the request asks to become a WebSocket.
bool wants_websocket(const Request& request);

// The subprotocols a client offers, in its order.
std::vector<std::string> offered_protocols(const Request& request);

// A bearer token among the subprotocols, where a browser can put one (it cannot set headers):
// `base64url.bearer.authorization.k8s.io.<token in base64url>`. Nothing when there is none, "" when
// it cannot be read or stands alone, without a protocol that could be chosen.
std::optional<std::string> bearer_of_protocols(const Request& request);

// Code::Forbidden for a page of another site that acts with what the browser holds (a certificate):
// only pages of this server, or of this machine (`kubectl proxy`), may. Whoever brings a token of
// his own is no such page.
Result<void> check_origin(const Request& request);

// How a stream's bytes become messages.
enum class Framing : std::uint8_t {
  Lines,     // one a line, without its newline
  Prefixed,  // one a piece behind a length of 4 bytes, big endian
  AsWritten  // one a write
};

struct WebSocketAnswer {
  Framing framing = Framing::Lines;
  bool binary = false;
  bool base64 = false;     // the payload as base64 text
  std::string protocol{};  // the subprotocol that is chosen; "" for none
};

// Of those offered: `binary.k8s.io` or `base64.binary.k8s.io`, else the first that is no credential:
// a browser that offers some fails the connection when none is chosen. `binary`: what messages are
// where the protocol does not say.
WebSocketAnswer choose_protocol(const Request& request, Framing framing, bool binary);

// Serves `stream` over the connection until either side ends it; whatever the client sends is
// ignored.
Upgrade over_websocket(BodyStream stream, WebSocketAnswer how);

}  // namespace krater::api
