// Small text helpers that the standard library lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krater {

// Empty pieces are kept: split("a,,b", ',') has three.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);  // ASCII white space
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string to_lower(std::string_view text);  // ASCII
// Decimal, whole text, optional minus; nullopt on overflow or anything else.
std::optional<std::int64_t> parse_int(std::string_view text);

std::string base64_encode(std::string_view bytes);  // standard alphabet, padded
std::optional<std::string> base64_decode(
    std::string_view text);                            // standard alphabet, padding required
std::string base64url_encode(std::string_view bytes);  // no padding
std::optional<std::string> base64url_decode(std::string_view text);  // padding optional
std::string hex_encode(std::string_view bytes);

// FNV-1a, 64 bit: for names and shards, never for security.
std::uint64_t fnv1a(std::string_view bytes);

// Kubernetes name rules (RFC 1123). Empty when valid, otherwise the message Kubernetes gives.
std::string check_dns1123_label(std::string_view name);
std::string check_dns1123_subdomain(std::string_view name);
std::string check_dns1035_label(std::string_view name);

}  // namespace krater
