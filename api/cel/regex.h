// Regular expressions: RE2, with the wording of Go's regexp for what does not parse.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

namespace krater::cel {

inline constexpr int kRegexMemory = 8 << 20;  // bytes a compiled pattern may take

std::shared_ptr<const re2::RE2> compile_regex(std::string_view pattern);
// "error parsing regexp: missing closing ]: `[`" of a pattern that is not ok().
std::string regex_problem(const re2::RE2& pattern);

}  // namespace krater::cel
