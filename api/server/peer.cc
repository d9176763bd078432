#include "api/server/peer.h"

#include <openssl/x509.h>

#include <array>

#include "api/auth/openssl.h"
#include "base/strings.h"

namespace krater::api {
namespace {

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, text);
    if (size < 0) continue;
    out.emplace_back(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return out;
}

}  // namespace

std::optional<PresentedCertificate> peer_certificate(SSL* tls) {
  const openssl::CertificatePtr certificate(SSL_get1_peer_certificate(tls));
  if (!certificate || SSL_get_verify_result(tls) != X509_V_OK) return std::nullopt;
  PresentedCertificate out;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  const std::vector<std::string> names = entries(subject, NID_commonName);
  if (!names.empty()) out.common_name = names.back();
  out.organizations = entries(subject, NID_organizationName);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) == 1) {
    out.sha256_hex = hex_encode({reinterpret_cast<const char*>(digest.data()), size});
  }
  return out;
}

bool peer_certificate_is_over(SSL* tls) {
  const openssl::CertificatePtr certificate(SSL_get1_peer_certificate(tls));
  return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0;
}

}  // namespace krater::api
