// The server's side of TLS.
#pragma once

#include <memory>
#include <string>

#include "api/auth/pki.h"
#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace krater::api {

// TLS 1.2 and above, ALPN http/1.1. A client may present a certificate; when it does, it has to be
// one of `client_ca`.
Result<std::shared_ptr<boost::asio::ssl::context>> make_server_tls(
    const CertifiedKey& certificate, const std::string& client_ca_pem);

}  // namespace krater::api
