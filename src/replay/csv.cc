#include "replay/csv.h"

#include "base/strings.h"

namespace krater::replay {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<CsvRow>> run() {
    std::vector<CsvRow> out;
    while (at_ < text_.size()) {
      CsvRow row{line_};
      skip_spaces();
      if (peek() == '#') {
        skip_line();
        continue;
      }
      for (bool more = true; more;) {
        TRY_ASSIGN(more, add_field(row));
      }
      if (row.fields.size() > 1 || !row.fields.front().empty()) out.push_back(std::move(row));
    }
    return out;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  void skip_line() {
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++line_;
  }
  Error bad(std::size_t line, const std::string& what) const {
    return make_error(Code::BadRequest, "line " + std::to_string(line) + ": " + what);
  }

  // True when another field follows in the row.
  Result<bool> add_field(CsvRow& row) {
    skip_spaces();
    if (peek() == '"') {
      TRY(add_quoted(row));
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      row.fields.emplace_back(trim(text_.substr(at_, end - at_)));
      at_ = end;
    }
    if (at_ >= text_.size()) return false;
    if (text_[at_++] == ',') return true;
    ++line_;
    return false;
  }

  Result<void> add_quoted(CsvRow& row) {
    const std::size_t begun = line_;
    std::string field;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) return bad(begun, "a quoted field does not end");
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      }
      field += text_[at_];
    }
    ++at_;
    skip_spaces();
    if (peek() == '\r') ++at_;
    if (peek() != ',' && peek() != '\n') return bad(line_, "something follows a quoted field");
    row.fields.push_back(std::move(field));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text) {
  return Reader(text).run();
}

}  // namespace krater::replay
