// Text that came as bytes.
#pragma once

#include <string>
#include <string_view>

namespace krater {

// `bytes` with U+FFFD in place of each byte that belongs to no character, as Go writes text into
// JSON. What is UTF-8 stays as it is.
std::string valid_utf8(std::string_view bytes);

}  // namespace krater
