// The cluster's own certificate authority: ECDSA P-256 throughout, certificates for the server, for
// people (kubeconfig) and for nodes (join). Pure but for load_or_create_pki, which owns DATA/pki.
// Any thread; nothing here is shared.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater::api {

struct CertifiedKey {
  std::string certificate_pem;
  std::string key_pem;
};

// What a client certificate says about its holder: CN is the user, each O a group.
struct Subject {
  std::string common_name;
  std::vector<std::string> organizations{};
};

struct Validity {
  WallTime from;
  WallTime until;
};

class CertificateAuthority {
 public:
  static Result<CertificateAuthority> create(const std::string& common_name,
                                             const Validity& validity);
  static Result<CertificateAuthority> load(CertifiedKey own);
  CertificateAuthority(CertificateAuthority&&) noexcept;
  CertificateAuthority& operator=(CertificateAuthority&&) noexcept;
  ~CertificateAuthority();

  const std::string& certificate_pem() const { return own_.certificate_pem; }
  const std::string& key_pem() const { return own_.key_pem; }

  // ExtKeyUsage clientAuth.
  Result<CertifiedKey> issue_client(const Subject& subject, const Validity& validity) const;
  // ExtKeyUsage serverAuth. `names` are host names and IP addresses in text form, each becomes a
  // SAN.
  Result<CertifiedKey> issue_server(const std::vector<std::string>& names,
                                    const Validity& validity) const;
  // A client certificate for the public key of a PKCS#10 request. Nothing but the key is taken from
  // the request: who its holder is, we say. Code::BadRequest when it is no request or not signed by
  // its own key.
  Result<std::string> sign_client_request(std::string_view request_pem, const Subject& subject,
                                          const Validity& validity) const;

 private:
  struct Keys;
  CertificateAuthority(CertifiedKey own, std::unique_ptr<Keys> keys);

  CertifiedKey own_;
  std::unique_ptr<Keys> keys_;
};

// Who a PKCS#10 request says its holder is. Code::BadRequest as sign_client_request.
struct RequestSubject {
  Subject subject;
  bool alternative_names = false;  // it asks for names beside the subject
};
Result<RequestSubject> read_request(std::string_view request_pem);

// A key and the request for it, as a joining agent makes them. The subject is only a courtesy to
// the reader of logs.
struct CertificateRequest {
  std::string request_pem;
  std::string key_pem;
};
Result<CertificateRequest> make_certificate_request(const Subject& subject);

// True when the certificate carries every name (SAN) and is valid at `at`. False also for what is
// no certificate.
bool covers(std::string_view certificate_pem, const std::vector<std::string>& names, WallTime at);

// Everything that DATA/pki holds.
struct Pki {
  CertificateAuthority authority;
  CertifiedKey server;
  std::string service_account_key_pem;  // ES256 signer of service account tokens
};

// Reads `directory` (ca.crt, ca.key, server.crt, server.key, sa.key), making what is missing: the
// authority for ten years, the server's certificate for one (made anew when it ends within 30 days
// or lacks one of `server_names`). Files are 0600, the directory 0700, each written as a whole
// (temporary file, fsync, rename). A half of a pair (ca.crt without ca.key) is an error, never
// replaced: it would cut off every client.
Result<Pki> load_or_create_pki(const std::string& directory,
                               const std::vector<std::string>& server_names, WallTime now);

// A kubeconfig with one cluster, user and context, all called `name`, certificates embedded.
std::string make_kubeconfig(const std::string& name, const std::string& server_url,
                            const std::string& ca_pem, const CertifiedKey& client);
// make_kubeconfig for CN=kubernetes-admin, O=system:masters, valid for one year.
Result<std::string> admin_kubeconfig(const CertificateAuthority& authority,
                                     const std::string& server_url, WallTime now);

}  // namespace krater::api
