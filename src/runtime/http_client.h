// HttpClient over Asio and Beast: HTTP/1.1, keep-alive connections pooled per host, TLS with an
// identity that may be exchanged. Called and answered on the loop it is made for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/result.h"
#include "base/websocket.h"
#include "runtime/tls.h"

namespace krater::runtime {

class AsioLoop;

std::unique_ptr<HttpClient> make_http_client(AsioLoop& loop, const TlsIdentity& identity);
std::unique_ptr<HttpClient> make_renewable_http_client(AsioLoop& loop,
                                                       std::shared_ptr<const ClientTls> tls);
// `dial`: where the connections for a host and port of a URL really go, asked whenever a new one is
// made, on the loop. The certificate must be for the URL's host all the same.
using Dial = std::function<Result<std::vector<std::pair<std::string, std::string>>>(
    const std::string& host, const std::string& port)>;
std::unique_ptr<HttpClient> make_http_client(AsioLoop& loop, const TlsIdentity& identity,
                                             Dial dial);
std::unique_ptr<WebSocketConnector> make_websocket_connector(AsioLoop& loop,
                                                             std::shared_ptr<const ClientTls> tls);

}  // namespace krater::runtime
