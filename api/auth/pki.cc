#include "api/auth/pki.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

#include "api/auth/certificate_request.h"
#include "api/auth/openssl.h"
#include "api/auth/x509.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using openssl::CertificatePtr;
using openssl::failure;
using openssl::KeyPtr;
using x509::Extension;
using x509::make_certificate;

bool is_ip(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

std::vector<Extension> leaf_extensions(const std::string& usage) {
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage},
          {NID_authority_key_identifier, "keyid"}};
}

std::string subject_alternatives(const std::vector<std::string>& names) {
  std::vector<std::string> entries;
  for (const std::string& name : names) entries.push_back((is_ip(name) ? "IP:" : "DNS:") + name);
  return join(entries, ",");
}

}  // namespace

struct CertificateAuthority::Keys {
  x509::Issuer issuer() const { return {certificate.get(), key.get()}; }
  KeyPtr key;
  CertificatePtr certificate;
};

CertificateAuthority::CertificateAuthority(CertifiedKey own, std::unique_ptr<Keys> keys)
    : own_(std::move(own)), keys_(std::move(keys)) {}
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;
CertificateAuthority::~CertificateAuthority() = default;

Result<CertificateAuthority> CertificateAuthority::create(const std::string& common_name,
                                                          const Validity& validity) {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate({common_name}, key.get(), validity, {nullptr, key.get()},
                              {{NID_basic_constraints, "critical,CA:TRUE"},
                               {NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
                               {NID_subject_key_identifier, "hash"}}));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertificateAuthority({std::move(cert_pem), std::move(key_pem)},
                              std::unique_ptr<Keys>(new Keys{std::move(key), std::move(cert)}));
}

Result<CertificateAuthority> CertificateAuthority::load(CertifiedKey own) {
  TRY_ASSIGN(KeyPtr key, openssl::private_key(own.key_pem));
  TRY_ASSIGN(CertificatePtr cert, openssl::certificate(own.certificate_pem));
  if (X509_check_private_key(cert.get(), key.get()) != 1)
    return failure("the authority's key does not belong to its certificate");
  return CertificateAuthority(std::move(own),
                              std::unique_ptr<Keys>(new Keys{std::move(key), std::move(cert)}));
}

Result<CertifiedKey> CertificateAuthority::issue_client(const Subject& subject,
                                                        const Validity& validity) const {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(CertificatePtr cert, make_certificate(subject, key.get(), validity, keys_->issuer(),
                                                   leaf_extensions("clientAuth")));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertifiedKey{std::move(cert_pem), std::move(key_pem)};
}

Result<CertifiedKey> CertificateAuthority::issue_server(const std::vector<std::string>& names,
                                                        const Validity& validity) const {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  std::vector<Extension> extensions = leaf_extensions("serverAuth");
  extensions.push_back({NID_subject_alt_name, subject_alternatives(names)});
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate({"krater-server"}, key.get(), validity, keys_->issuer(), extensions));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertifiedKey{std::move(cert_pem), std::move(key_pem)};
}

Result<std::string> CertificateAuthority::sign_client_request(std::string_view request_pem,
                                                              const Subject& subject,
                                                              const Validity& validity) const {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate(subject, X509_REQ_get0_pubkey(request.get()), validity,
                              keys_->issuer(), leaf_extensions("clientAuth")));
  return openssl::to_pem(cert.get());
}

bool covers(std::string_view certificate_pem, const std::vector<std::string>& names, WallTime at) {
  const Result<CertificatePtr> cert = openssl::certificate(certificate_pem);
  if (!cert) return false;
  std::time_t seconds = at.unix_seconds();
  if (X509_cmp_time(X509_get0_notBefore(cert->get()), &seconds) >= 0) return false;
  if (X509_cmp_time(X509_get0_notAfter(cert->get()), &seconds) <= 0) return false;
  for (const std::string& name : names) {
    const bool named =
        is_ip(name) ? X509_check_ip_asc(cert->get(), name.c_str(), 0) == 1
                    : X509_check_host(cert->get(), name.data(), name.size(), 0, nullptr) == 1;
    if (!named) return false;
  }
  return true;
}

std::string make_kubeconfig(const std::string& name, const std::string& server_url,
                            const std::string& ca_pem, const CertifiedKey& client) {
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: " + name +
         "\n  cluster:\n    server: " + server_url +
         "\n    certificate-authority-data: " + base64_encode(ca_pem) +
         "\nusers:\n- name: " + name +
         "\n  user:\n    client-certificate-data: " + base64_encode(client.certificate_pem) +
         "\n    client-key-data: " + base64_encode(client.key_pem) +
         "\ncontexts:\n- name: " + name + "\n  context:\n    cluster: " + name +
         "\n    user: " + name + "\ncurrent-context: " + name + "\npreferences: {}\n";
}

Result<std::string> admin_kubeconfig(const CertificateAuthority& authority,
                                     const std::string& server_url, WallTime now) {
  TRY_ASSIGN(CertifiedKey admin, authority.issue_client({"kubernetes-admin", {"system:masters"}},
                                                        {now - 5min, now + 24h * 365}));
  return make_kubeconfig("krater", server_url, authority.certificate_pem(), admin);
}

}  // namespace krater::api
