// Blocks of addresses as "10.0.0.0/8" and "2001:db8::/64" write them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krater::api::rules {

struct AddressBlock {
  int family = 0;  // AF_INET, AF_INET6
  std::array<unsigned char, 16> bytes{};
  std::int64_t prefix = 0;

  bool bits_beyond_prefix() const;
};

constexpr std::string_view kNoBlock =
    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

std::optional<AddressBlock> read_block(const std::string& text);    // nothing when it is none
bool within(const AddressBlock& inner, const AddressBlock& outer);  // strictly inside

}  // namespace krater::api::rules
