// PKCS#10, beyond pki.h: all that a request for a certificate says, certificates as they were asked
// for, keys that there are. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/auth/openssl.h"
#include "api/auth/pki.h"

namespace krater::api {

// The names that a request asks for beside its subject; addresses in text form.
struct AlternativeNames {
  std::vector<std::string> dns{}, addresses{}, mail{}, uris{};
};
// Code::BadRequest as read_request.
Result<AlternativeNames> alternative_names(std::string_view request_pem);

// Whom a certificate names. Code::Internal for what is none.
Result<Subject> subject_of(std::string_view certificate_pem);

// When a certificate begins and ends. Code::Internal for what is none.
Result<Validity> validity_of(std::string_view certificate_pem);

// make_certificate_request for a key that there is. Code::Internal when that cannot be read.
Result<CertificateRequest> request_with_key(const Subject& subject, std::string key_pem);
// Names the public key of a private one: SHA-256 over its DER form, base64url.
Result<std::string> key_digest(std::string_view key_pem);

// The key usages of the certificates API ("digital signature", "client auth") in OpenSSL's words.
struct KeyUsages {
  std::vector<std::string> basic{}, extended{};
};
// Code::BadRequest for words that there are not.
Result<KeyUsages> key_usages(const std::vector<std::string>& words);

// A certificate as the request asks for it: its subject and alternative names, for these usages
// (words of the certificates API). It ends with the authority's own at the latest. Code::BadRequest
// as read_request, and for unknown usages.
Result<std::string> sign_request(const CertificateAuthority& authority,
                                 std::string_view request_pem,
                                 const std::vector<std::string>& usages, Validity validity);

// The request, when its own key has signed it. Code::BadRequest.
Result<openssl::RequestPtr> own_request(std::string_view request_pem);

}  // namespace krater::api
