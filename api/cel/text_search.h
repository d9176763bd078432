// Searching in linear time, whatever the text: what users write must not make it quadratic.
#pragma once

#include <cstddef>
#include <string_view>

namespace krater::cel {

// Offset of the first occurrence at or after `from`; npos when there is none. `part` is not empty.
std::size_t find_first(std::string_view text, std::string_view part, std::size_t from);
// Of the last one that starts at or before `latest`.
std::size_t find_last(std::string_view text, std::string_view part, std::size_t latest);

}  // namespace krater::cel
