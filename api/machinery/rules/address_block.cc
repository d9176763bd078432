#include "api/machinery/rules/address_block.h"

#include <arpa/inet.h>

#include "base/strings.h"

namespace krater::api::rules {

bool AddressBlock::bits_beyond_prefix() const {
  const std::int64_t bits = family == AF_INET ? 32 : 128;
  for (std::int64_t bit = prefix; bit < bits; ++bit) {
    if ((bytes[static_cast<std::size_t>(bit / 8)] & (0x80 >> (bit % 8))) != 0) return true;
  }
  return false;
}

std::optional<AddressBlock> read_block(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string address = text.substr(0, slash);
  const auto prefix = parse_int(std::string_view(text).substr(slash + 1));
  AddressBlock out;
  if (inet_pton(AF_INET, address.c_str(), out.bytes.data()) == 1) {
    out.family = AF_INET;
  } else if (inet_pton(AF_INET6, address.c_str(), out.bytes.data()) == 1) {
    out.family = AF_INET6;
  } else {
    return std::nullopt;
  }
  if (!prefix || *prefix < 0 || *prefix > (out.family == AF_INET ? 32 : 128)) return std::nullopt;
  out.prefix = *prefix;
  return out;
}

bool within(const AddressBlock& inner, const AddressBlock& outer) {
  if (inner.family != outer.family || inner.prefix <= outer.prefix) return false;
  for (std::int64_t bit = 0; bit < outer.prefix; ++bit) {
    const std::size_t byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((inner.bytes[byte] & mask) != (outer.bytes[byte] & mask)) return false;
  }
  return true;
}

}  // namespace krater::api::rules
