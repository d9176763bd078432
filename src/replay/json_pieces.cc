#include "replay/readers.h"

namespace krater::replay {

std::vector<JsonPiece> json_pieces(std::string_view text) {
  std::vector<JsonPiece> out;
  std::size_t line = 1, begin = 0, depth = 0, begun = 1;
  bool quoted = false, inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (!inside && c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ',') {
      inside = true;
      begin = i;
      begun = line;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      out.push_back({begun, text.substr(begin, i + 1 - begin)});
      inside = false;
    }
  }
  // What does not end; the parser says what is wrong with it.
  if (inside) out.push_back({begun, text.substr(begin)});
  return out;
}

}  // namespace krater::replay
