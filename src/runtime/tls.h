// What a client side needs to know for TLS. All PEM text.
#pragma once

#include <memory>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace krater::runtime {

struct TlsIdentity {
  std::string ca_pem;           // trust exactly this; empty: the system's store
  std::string certificate_pem;  // client certificate; empty: none
  std::string key_pem;
  // False only for fetching an authority that a join token pins by its hash.
  bool verify = true;
};

// Throws boost::system::system_error when a PEM cannot be read.
std::shared_ptr<boost::asio::ssl::context> make_client_tls(const TlsIdentity& identity);

// What clients present, exchangeable: connections made afterwards present the new identity, idle
// ones of the old are not used again, those in use go on to their end. On one loop.
class ClientTls {
 public:
  explicit ClientTls(const TlsIdentity& identity) : context_(make_client_tls(identity)) {}
  void exchange(const TlsIdentity& identity) { context_ = make_client_tls(identity); }
  const std::shared_ptr<boost::asio::ssl::context>& context() const { return context_; }

 private:
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace krater::runtime
