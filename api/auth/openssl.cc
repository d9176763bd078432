#include "api/auth/openssl.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>

#include "base/check.h"

namespace krater::api::openssl {

Error failure(std::string_view what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_peek_last_error();
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return make_error(Code::Internal,
                    std::string(what) + (code == 0 ? "" : std::string(": ") + text.data()));
}

BioPtr read_only(std::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<KeyPtr> new_p256_key() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return failure("cannot make a P-256 key");
  return key;
}

Result<KeyPtr> private_key(std::string_view pem) {
  const BioPtr bio = read_only(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!key) return failure("cannot read the private key");
  return key;
}

Result<CertificatePtr> certificate(std::string_view pem) {
  const BioPtr bio = read_only(pem);
  CertificatePtr cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!cert) return failure("cannot read the certificate");
  return cert;
}

Result<std::string> to_pem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failure("cannot write the private key");
  }
  return contents(bio.get());
}

Result<std::string> to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), certificate) != 1)
    return failure("cannot write the certificate");
  return contents(bio.get());
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  CHECK_MSG(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) == 1,
            "no entropy");
  return out;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace krater::api::openssl
