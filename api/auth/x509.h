// Certificates as OpenSSL builds them; internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "api/auth/openssl.h"
#include "api/auth/pki.h"

namespace krater::api::x509 {

struct Extension {
  int nid;
  std::string value;  // as in OpenSSL's configuration
};

bool set_subject(X509_NAME* name, const Subject& subject);

struct Issuer {
  X509* certificate;  // nullptr: self-signed
  EVP_PKEY* key;
};

Result<openssl::CertificatePtr> make_certificate(const Subject& subject, EVP_PKEY* holder,
                                                 const Validity& validity, const Issuer& issuer,
                                                 const std::vector<Extension>& extensions);
// With subject, key and alternative names (DNS, IP, mail, URI) of the request; nothing else is
// taken from it.
Result<openssl::CertificatePtr> certify(X509_REQ* request, const Validity& validity,
                                        const Issuer& issuer,
                                        const std::vector<Extension>& extensions);

}  // namespace krater::api::x509
