#include "api/cel/lexer.h"

#include <algorithm>
#include <array>

namespace krater::cel {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::uint32_t hex_value(char c) {
  return static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}

// One escape after its backslash, from the front of `body`. False: not an escape.
bool escape(std::string_view& body, bool bytes, std::string& out) {
  static constexpr std::string_view kFrom = "abfnrtv\\'\"`?";
  static constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\'\"`?";
  if (body.empty()) return false;
  const char c = body[0];
  body.remove_prefix(1);
  const std::size_t simple = kFrom.find(c);
  if (simple != std::string_view::npos) {
    out += kTo[simple];
    return true;
  }
  std::size_t count = 0;
  if (c == 'x' || c == 'X') count = 2;
  if (!bytes && c == 'u') count = 4;
  if (!bytes && c == 'U') count = 8;
  std::uint32_t code = 0;
  if (count > 0) {
    if (body.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_hex(body[i])) return false;
      code = code * 16 + hex_value(body[i]);
    }
    body.remove_prefix(count);
  } else if (c >= '0' && c <= '3') {
    if (body.size() < 2 || body[0] < '0' || body[0] > '7' || body[1] < '0' || body[1] > '7') {
      return false;
    }
    code = static_cast<std::uint32_t>((c - '0') * 64 + (body[0] - '0') * 8 + (body[1] - '0'));
    body.remove_prefix(2);
  } else {
    return false;
  }
  if (bytes) {
    out += static_cast<char>(code);
    return true;
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  append_utf8(out, code);
  return true;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<Issue>& issues) : source_(source), issues_(issues) {}

  std::vector<Token> run() {
    while (skip_blank(), at_ < source_.size()) next();
    add(Token::Kind::End, source_.size(), 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void add(Token::Kind kind, std::size_t at, std::size_t length) {
    tokens_.push_back(Token{kind, static_cast<std::uint32_t>(at), source_.substr(at, length)});
  }

  void skip_blank() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else {
        return;
      }
    }
  }

  void next() {
    if (text_literal()) return;
    const char c = source_[at_];
    if (is_letter(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    symbol();
  }

  void word() {
    const std::size_t start = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const std::string_view text = source_.substr(start, at_ - start);
    const bool symbol = text == "in" || text == "true" || text == "false" || text == "null";
    add(symbol ? Token::Kind::Symbol : Token::Kind::Ident, start, text.size());
  }

  void number() {
    const std::size_t start = at_;
    if (peek() == '0' && peek(1) == 'x' && is_hex(peek(2))) {
      at_ += 2;
      while (is_hex(peek())) ++at_;
      return finish_whole(start);
    }
    while (is_digit(peek())) ++at_;
    bool fractional = false;
    if (peek() == '.' && is_digit(peek(1))) {
      fractional = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if (is_digit(peek(sign))) {
        fractional = true;
        at_ += sign;
        while (is_digit(peek())) ++at_;
      }
    }
    if (!fractional) return finish_whole(start);
    add(Token::Kind::Double, start, at_ - start);
  }

  void finish_whole(std::size_t start) {
    const bool unsigned_suffix = peek() == 'u' || peek() == 'U';
    if (unsigned_suffix) ++at_;
    add(unsigned_suffix ? Token::Kind::Uint : Token::Kind::Int, start, at_ - start);
  }

  // String and bytes literals; false when there is none here.
  bool text_literal() {
    std::size_t ahead = 0;
    bool raw = false;
    bool bytes = false;
    for (; ahead < 2; ++ahead) {
      const char c = peek(ahead);
      if ((c == 'r' || c == 'R') && !raw) {
        raw = true;
      } else if ((c == 'b' || c == 'B') && !bytes && !raw) {
        bytes = true;
      } else {
        break;
      }
    }
    const char quote = peek(ahead);
    if (quote != '"' && quote != '\'') return false;
    const std::size_t start = at_;
    const bool triple = peek(ahead + 1) == quote && peek(ahead + 2) == quote;
    std::size_t end = at_ + ahead + (triple ? 3 : 1);
    const std::string closing(triple ? 3 : 1, quote);
    while (true) {
      if (end >= source_.size() || (!triple && (source_[end] == '\n' || source_[end] == '\r'))) {
        return broken_text(start, end);
      }
      if (source_.substr(end, closing.size()) == closing) break;
      if (raw || source_[end] != '\\') {
        ++end;
        continue;
      }
      std::string_view rest = source_.substr(end + 1);
      std::string ignored;
      if (!escape(rest, false, ignored)) return broken_text(start, end + 2);
      end = source_.size() - rest.size();
    }
    at_ = end + closing.size();
    add(bytes ? Token::Kind::Bytes : Token::Kind::String, start, at_ - start);
    return true;
  }

  bool broken_text(std::size_t start, std::size_t end) {
    end = std::min(end, source_.size());
    issue(start, source_.substr(start, end - start));
    at_ = end;
    return true;
  }

  void symbol() {
    static constexpr std::array<std::string_view, 6> kDouble{"==", "!=", "<=", ">=", "&&", "||"};
    const std::string_view two = source_.substr(at_, 2);
    for (const std::string_view known : kDouble) {
      if (two != known) continue;
      add(Token::Kind::Symbol, at_, 2);
      at_ += 2;
      return;
    }
    if (std::string_view("<>!?:.,()[]{}+-*/%").find(source_[at_]) != std::string_view::npos) {
      add(Token::Kind::Symbol, at_++, 1);
      return;
    }
    const std::size_t start = at_++;
    while (at_ < source_.size() && (static_cast<unsigned char>(source_[at_]) & 0xC0) == 0x80) ++at_;
    issue(start, source_.substr(start, at_ - start));
  }

  void issue(std::size_t at, std::string_view what) {
    issues_.push_back(
        Issue{static_cast<std::uint32_t>(at),
              "Syntax error: token recognition error at: '" + std::string(what) + "'"});
  }

  std::string_view source_;
  std::vector<Issue>& issues_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues) {
  return Lexer(source, issues).run();
}

bool unescape(const Token& token, std::string& out, std::string& message) {
  std::string_view body = token.text;
  const bool bytes = token.kind == Token::Kind::Bytes;
  bool raw = false;
  while (body[0] != '"' && body[0] != '\'') {
    raw = raw || body[0] == 'r' || body[0] == 'R';
    body.remove_prefix(1);
  }
  const bool triple = body.size() >= 6 && body[1] == body[0] && body[2] == body[0];
  const std::size_t quotes = triple ? 3 : 1;
  body.remove_prefix(quotes);
  body.remove_suffix(quotes);
  while (!body.empty()) {
    const char c = body[0];
    body.remove_prefix(1);
    if (c == '\r') {  // every kind of line end is a newline
      if (!body.empty() && body[0] == '\n') body.remove_prefix(1);
      out += '\n';
    } else if (c != '\\' || raw) {
      out += c;
    } else if (!escape(body, bytes, out)) {
      message = "unable to unescape string";
      return false;
    }
  }
  return true;
}

}  // namespace krater::cel
