// Owning handles and small helpers over OpenSSL, shared by the files of this folder. Entropy here
// is OpenSSL's.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krater::api::openssl {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;

// Code::Internal, `what` and the newest entry of OpenSSL's error queue, which is emptied.
Error failure(std::string_view what);

BioPtr read_only(std::string_view bytes);
std::string contents(BIO* bio);

Result<KeyPtr> new_p256_key();
Result<KeyPtr> private_key(std::string_view pem);
Result<CertificatePtr> certificate(std::string_view pem);
Result<std::string> to_pem(EVP_PKEY* key);
Result<std::string> to_pem(X509* certificate);

std::string sha256(std::string_view bytes);  // 32 raw bytes
std::string random_bytes(std::size_t count);
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace krater::api::openssl
