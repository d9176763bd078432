#include "agent/simulated/script.h"

#include <algorithm>
#include <array>

namespace krater::agent {
namespace {

// Words that begin what is no plain command.
constexpr std::array<std::string_view, 16> kControl{
    "if",   "then", "else", "fi",   "while", "until", "for",      "do",
    "done", "{",    "}",    "case", "esac",  "!",     "function", "[["};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::vector<Statement>> statements() {
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
    }
    if (!end_word() || !end_statement()) return std::nullopt;
    if (target_due_ || when_ != Statement::When::Always) return std::nullopt;
    return std::move(out_);
  }

 private:
  // One character, quoted run or operator. False: not understood.
  bool step() {
    const char c = text_[at_];
    switch (c) {
      case ' ':
      case '\t':
        ++at_;
        return end_word();
      case '\n':
      case ';':
        ++at_;
        if (c == ';' && next_is(';')) return false;
        return end_word() && end_statement();
      case '#':
        if (in_word_) return take();
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        return true;
      case '\'':
        return quoted_until('\'');
      case '"':
        return double_quoted();
      case '\\':
        ++at_;
        if (at_ == text_.size()) return false;
        if (text_[at_] != '\n') return take_literally();
        ++at_;
        return true;
      case '$':
        return dollar();
      case '&':
        return doubled('&', Statement::When::AfterSuccess);
      case '|':
        return doubled('|', Statement::When::AfterFailure);
      case '<':
      case '>':
        return redirection();
      case '`':
      case '(':
      case ')':
        return false;
      default:
        return take();
    }
  }

  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  bool take() {
    in_word_ = true;
    word_ += text_[at_++];
    return true;
  }
  bool take_literally() {
    literal_ = true;
    return take();
  }

  bool quoted_until(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    in_word_ = literal_ = true;
    at_ = end + 1;
    return true;
  }

  bool double_quoted() {
    in_word_ = literal_ = true;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
          std::string_view("\"\\$`\n").find(text_[at_ + 1]) != std::string_view::npos) {
        ++at_;
      }
      word_ += text_[at_];
    }
    return false;
  }

  // $NAME stays as it is; $(…) is kept whole, whatever is in it.
  bool dollar() {
    take();
    if (!next_is('(')) return true;
    int depth = 0;
    do {
      if (at_ == text_.size()) return false;
      if (text_[at_] == '(') ++depth;
      if (text_[at_] == ')') --depth;
      take();
    } while (depth > 0);
    return true;
  }

  bool doubled(char c, Statement::When next) {
    ++at_;
    if (!next_is(c)) return false;
    ++at_;
    return end_word() && join(next);
  }

  // Where it goes is of no interest: the target is read and dropped.
  bool redirection() {
    const bool number = !literal_ && std::all_of(word_.begin(), word_.end(),
                                                 [](char c) { return c >= '0' && c <= '9'; });
    if (number) {
      word_.clear();
      in_word_ = false;
    } else if (!end_word()) {
      return false;
    }
    const char c = text_[at_++];
    if (c == '<' && next_is('<')) return false;
    if (next_is('>')) ++at_;
    if (next_is('&')) ++at_;
    if (target_due_) return false;
    target_due_ = true;
    return true;
  }

  bool end_word() {
    if (!in_word_) return true;
    if (target_due_) {
      target_due_ = false;
    } else {
      if (words_.empty() && !literal_ &&
          std::find(kControl.begin(), kControl.end(), word_) != kControl.end())
        return false;
      words_.push_back(std::move(word_));
    }
    word_.clear();
    in_word_ = literal_ = false;
    return true;
  }

  bool end_statement() {
    if (words_.empty()) return !target_due_;
    out_.push_back({when_, std::move(words_), false});
    words_.clear();
    when_ = Statement::When::Always;
    return !target_due_;
  }

  bool join(Statement::When next) {
    if (words_.empty() || !end_statement()) return false;
    out_.back().tested = true;
    when_ = next;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false, literal_ = false, target_due_ = false;
  std::vector<std::string> words_;
  Statement::When when_ = Statement::When::Always;
  std::vector<Statement> out_;
};

}  // namespace

std::optional<std::vector<Statement>> parse_script(std::string_view text) {
  return Reader(text).statements();
}

}  // namespace krater::agent
