#include "api/encryption/cipher.h"

#include <openssl/evp.h>

#include <memory>

#include "api/auth/openssl.h"
#include "api/encryption/secretbox.h"
#include "base/check.h"

namespace krater::api::encryption {
namespace {

using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, openssl::Deleter<EVP_CIPHER_CTX_free>>;

constexpr std::size_t kNonce = 12, kTag = 16, kBlock = 16;

const EVP_CIPHER* cipher_of(Provider provider, std::size_t key_bytes) {
  const bool gcm = provider == Provider::AesGcm;
  if (key_bytes == 16) return gcm ? EVP_aes_128_gcm() : EVP_aes_128_cbc();
  if (key_bytes == 24) return gcm ? EVP_aes_192_gcm() : EVP_aes_192_cbc();
  return gcm ? EVP_aes_256_gcm() : EVP_aes_256_cbc();
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
int length(std::string_view text) {
  return static_cast<int>(text.size());
}

}  // namespace

std::string encrypt(Provider provider, const Key& key, std::string_view context,
                    std::string_view value) {
  if (provider == Provider::Identity) return std::string(value);
  if (provider == Provider::Secretbox) return secretbox::seal(key.secret, value);
  const bool gcm = provider == Provider::AesGcm;
  std::string out = openssl::random_bytes(gcm ? kNonce : kBlock);
  const ContextPtr state(EVP_CIPHER_CTX_new());
  CHECK(EVP_EncryptInit_ex(state.get(), cipher_of(provider, key.secret.size()), nullptr,
                           bytes_of(std::string_view(key.secret)),
                           bytes_of(std::string_view(out))) == 1);
  int n = 0;
  if (gcm)
    CHECK(EVP_EncryptUpdate(state.get(), nullptr, &n, bytes_of(context), length(context)) == 1);
  std::string sealed(value.size() + kBlock, '\0');
  CHECK(EVP_EncryptUpdate(state.get(), bytes_of(sealed), &n, bytes_of(value), length(value)) == 1);
  int rest = 0;
  CHECK(EVP_EncryptFinal_ex(state.get(), bytes_of(sealed) + n, &rest) == 1);
  sealed.resize(static_cast<std::size_t>(n + rest));
  out += sealed;
  if (gcm) {
    std::string tag(kTag, '\0');
    CHECK(EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTag),
                              tag.data()) == 1);
    out += tag;
  }
  return out;
}

std::optional<std::string> decrypt(Provider provider, const Key& key, std::string_view context,
                                   std::string_view bytes) {
  if (provider == Provider::Identity) return std::string(bytes);
  if (provider == Provider::Secretbox) return secretbox::open(key.secret, bytes);
  const bool gcm = provider == Provider::AesGcm;
  const std::size_t head = gcm ? kNonce : kBlock, tail = gcm ? kTag : 0;
  if (bytes.size() < head + tail) return std::nullopt;
  const std::string_view nonce = bytes.substr(0, head);
  const std::string_view body = bytes.substr(head, bytes.size() - head - tail);
  std::string tag(bytes.substr(bytes.size() - tail));
  const ContextPtr state(EVP_CIPHER_CTX_new());
  if (EVP_DecryptInit_ex(state.get(), cipher_of(provider, key.secret.size()), nullptr,
                         bytes_of(std::string_view(key.secret)), bytes_of(nonce)) != 1)
    return std::nullopt;
  int n = 0;
  if (gcm &&
      (EVP_DecryptUpdate(state.get(), nullptr, &n, bytes_of(context), length(context)) != 1 ||
       EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTag), tag.data()) !=
           1))
    return std::nullopt;
  std::string out(body.size() + kBlock, '\0');
  int rest = 0;
  if (EVP_DecryptUpdate(state.get(), bytes_of(out), &n, bytes_of(body), length(body)) != 1 ||
      EVP_DecryptFinal_ex(state.get(), bytes_of(out) + n, &rest) != 1)
    return std::nullopt;
  out.resize(static_cast<std::size_t>(n + rest));
  return out;
}

}  // namespace krater::api::encryption
