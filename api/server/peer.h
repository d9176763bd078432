// Who is at the other end of a TLS connection.
#pragma once

#include <openssl/ssl.h>

#include <optional>

#include "api/auth/authenticator.h"

namespace krater::api {

// The client's certificate, when it presented one and TLS verified it. An unverified one ends the
// handshake.
std::optional<PresentedCertificate> peer_certificate(SSL* tls);

// A connection may outlive the certificate that opened it.
bool peer_certificate_is_over(SSL* tls);

}  // namespace krater::api
