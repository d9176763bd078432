#include "api/cel/field_names.h"

#include <algorithm>
#include <array>

namespace krater::cel {

std::optional<std::string> escape_field(std::string_view name) {
  static constexpr std::array<std::string_view, 21> kReserved{
      "true",     "false",   "null",      "in",       "as",  "break",  "const",
      "continue", "else",    "for",       "function", "if",  "import", "let",
      "loop",     "package", "namespace", "return",   "var", "void",   "while"};
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return std::nullopt;
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
    return "__" + std::string(name) + "__";
  }
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      out += "__underscores__";
      ++i;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_') {
      out += c;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace krater::cel
