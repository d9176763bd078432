// HttpClient over Asio and Beast: HTTP/1.1, keep-alive connections pooled per host, TLS with an
// identity that may be exchanged. Called and answered on the loop it is made for.
#pragma once

#include <memory>

#include "base/http.h"
#include "base/websocket.h"
#include "runtime/tls.h"

namespace krater::runtime {

class AsioLoop;

std::unique_ptr<HttpClient> make_http_client(AsioLoop& loop, const TlsIdentity& identity);
std::unique_ptr<HttpClient> make_renewable_http_client(AsioLoop& loop,
                                                       std::shared_ptr<const ClientTls> tls);
std::unique_ptr<WebSocketConnector> make_websocket_connector(AsioLoop& loop,
                                                             std::shared_ptr<const ClientTls> tls);

}  // namespace krater::runtime
