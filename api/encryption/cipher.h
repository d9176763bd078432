// The ciphers of sealed values, over OpenSSL and libsodium. Pure but for the entropy of nonces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/encryption/config.h"

namespace krater::api::encryption {

// `context` is bound to the value where the cipher can (AES-GCM): a value moved to another key does
// not open there. Provider::Identity returns the value.
std::string encrypt(Provider provider, const Key& key, std::string_view context,
                    std::string_view value);
// Nothing when the key is not the one, or the bytes have been changed.
std::optional<std::string> decrypt(Provider provider, const Key& key, std::string_view context,
                                   std::string_view bytes);

}  // namespace krater::api::encryption
