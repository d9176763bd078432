// Source to tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/cel/syntax.h"

namespace krater::cel {

struct Token {
  enum class Kind : std::uint8_t {
    End,
    Ident,  // reserved words too
    Int,    // digits or 0x…
    Uint,   // with its u
    Double,
    String,  // `text` as in the source, with prefix and quotes
    Bytes,
    Symbol,  // punctuation, and the words in, true, false, null
  };
  Kind kind = Kind::End;
  std::uint32_t at = 0;
  std::string_view text;
};

// Always ends with Kind::End.
std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues);

// The value of a string or bytes token. `message` says what is wrong when false comes back.
bool unescape(const Token& token, std::string& out, std::string& message);

}  // namespace krater::cel
