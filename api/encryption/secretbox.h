// XSalsa20-Poly1305 as NaCl has it: what Kubernetes' provider secretbox writes, a nonce of 24 bytes
// and the box. Pure but for the entropy of nonces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krater::api::encryption::secretbox {

// `key`: 32 bytes.
std::string seal(std::string_view key, std::string_view value);
// Nothing when the key is not the one, or a byte has been changed.
std::optional<std::string> open(std::string_view key, std::string_view bytes);

}  // namespace krater::api::encryption::secretbox
