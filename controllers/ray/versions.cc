#include "controllers/ray/versions.h"

#include <charconv>

namespace krater::controllers {

std::optional<RayVersion> parse_ray_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  RayVersion out{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [next, problem] = std::from_chars(at, end, out[i]);
    if (problem != std::errc() || out[i] < 0) return std::nullopt;
    at = next;
    if (at == end || *at != '.') {
      // MAJOR.MINOR at least; what follows is a suffix.
      return i >= 1 ? std::optional(out) : std::nullopt;
    }
    ++at;
  }
  return out;
}

bool at_least(std::string_view text, const RayVersion& wanted) {
  const auto version = parse_ray_version(text);
  return version && *version >= wanted;
}

}  // namespace krater::controllers
