#include "api/server/tls_context.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include "api/auth/openssl.h"

namespace krater::api {
namespace {

namespace ssl = boost::asio::ssl;

constexpr unsigned char kProtocols[] = "\x08http/1.1";

// Clients that offer nothing we speak go on without a protocol, which means HTTP/1.1 as well.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, size, kProtocols, sizeof kProtocols - 1, offered,
                                          offered_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// The names clients are asked for, and the authorities that vouch for them.
bool trust_clients_of(SSL_CTX* context, const std::string& client_ca_pem) {
  const auto authority = openssl::certificate(client_ca_pem);
  if (!authority) return false;
  return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority->get()) == 1 &&
         SSL_CTX_add_client_CA(context, authority->get()) == 1;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_server_tls(const CertifiedKey& certificate,
                                                      const std::string& client_ca_pem) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code failed;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1,
                       failed);
  if (!failed)
    context->use_certificate_chain(boost::asio::buffer(certificate.certificate_pem), failed);
  if (!failed)
    context->use_private_key(boost::asio::buffer(certificate.key_pem), ssl::context::pem, failed);
  if (!failed) context->set_verify_mode(ssl::verify_peer, failed);
  if (failed)
    return make_error(Code::Internal, "cannot use the server certificate: " + failed.message());
  SSL_CTX* const native = context->native_handle();
  if (!trust_clients_of(native, client_ca_pem))
    return openssl::failure("cannot use the client authority");
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  // Sessions of clients with certificates are bound to a context id.
  constexpr unsigned char kSessionContext[] = "krater";
  SSL_CTX_set_session_id_context(native, kSessionContext, sizeof kSessionContext - 1);
  return context;
}

}  // namespace krater::api
