// Ray versions as specs write them: "2.53.0", also with a suffix ("2.53.0rc1", "2.53.0-py310").
// Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace krater::controllers {

using RayVersion = std::array<int, 3>;

// nullopt when the text does not start with MAJOR.MINOR[.PATCH].
std::optional<RayVersion> parse_ray_version(std::string_view text);
// False when the text is no version.
bool at_least(std::string_view text, const RayVersion& wanted);

}  // namespace krater::controllers
