// Text in Go's quoting, where what an original prints is read by programs that unquote it.
#pragma once

#include <string>
#include <string_view>

namespace krater {

// As Go's strconv.Quote (%q) for valid UTF-8: escapes quotes, backslashes and control characters.
// Letters and signs beyond ASCII stand as they are.
std::string go_quoted(std::string_view text);

}  // namespace krater
