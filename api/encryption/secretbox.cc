#include "api/encryption/secretbox.h"

#include <sodium.h>

#include "api/auth/openssl.h"
#include "base/check.h"

namespace krater::api::encryption::secretbox {
namespace {

constexpr std::size_t kNonce = crypto_secretbox_NONCEBYTES, kTag = crypto_secretbox_MACBYTES;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// Chooses the fastest code for this processor; once.
void prepare() {
  static const int ready = sodium_init();
  CHECK(ready >= 0);
}

}  // namespace

std::string seal(std::string_view key, std::string_view value) {
  prepare();
  CHECK(key.size() == crypto_secretbox_KEYBYTES);
  const std::string nonce = openssl::random_bytes(kNonce);
  std::string box(kTag + value.size(), '\0');
  CHECK(crypto_secretbox_easy(bytes_of(box), bytes_of(value), value.size(),
                              bytes_of(std::string_view(nonce)), bytes_of(key)) == 0);
  return nonce + box;
}

std::optional<std::string> open(std::string_view key, std::string_view bytes) {
  prepare();
  if (key.size() != crypto_secretbox_KEYBYTES || bytes.size() < kNonce + kTag) return std::nullopt;
  const std::string_view box = bytes.substr(kNonce);
  std::string out(box.size() - kTag, '\0');
  if (crypto_secretbox_open_easy(bytes_of(out), bytes_of(box), box.size(), bytes_of(bytes),
                                 bytes_of(key)) != 0)
    return std::nullopt;
  return out;
}

}  // namespace krater::api::encryption::secretbox
