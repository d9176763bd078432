// Block style, members in the document's order. Whatever a reader might take for something else
// than text is quoted.
#include <algorithm>
#include <array>

#include "base/yaml.h"

namespace krater {
namespace {

// Letters first, then what cannot begin a comment, a key or a flow: those need no quotes. Words
// that mean something (true, null, ~) and everything that looks like a number or a date do.
bool is_plain(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto harmless = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/' ||
           c == '@';
  };
  if (text.empty() || (!letter(text.front()) && text.front() != '/')) return false;
  static constexpr std::array<std::string_view, 4> kShort{"y", "Y", "n", "N"};  // booleans to some
  if (std::find(kShort.begin(), kShort.end(), text) != kShort.end()) return false;
  if (!std::all_of(text.begin(), text.end(), harmless)) return false;
  const Result<Json> read = parse_yaml(text);
  return read && read->is_string();
}

void append_text(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else {
    append_json_string(out, text);  // a JSON string is a double-quoted scalar
  }
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  // After `key:` or `-`, whose line is still open.
  void value(const Json& value, std::size_t indent, bool in_list) {
    if (value.is_object() && !value.get_object().empty()) {
      if (!in_list) out_ += '\n';
      members(value.get_object(), indent, in_list);
    } else if (value.is_array() && !value.get_array().empty()) {
      out_ += '\n';
      // Lists stand at the column of their key, as kubectl prints them.
      entries(value.get_array(), in_list ? indent : indent - 2);
    } else {
      out_ += ' ';
      leaf(value);
      out_ += '\n';
    }
  }
  void leaf(const Json& value) {
    if (value.is_string()) {
      append_text(out_, view(value.get_string()));
    } else {
      append_json(out_, value);
    }
  }
  // `inside`: the first member stands on the line of its list's dash.
  void members(const JsonObject& object, std::size_t indent, bool inside) {
    for (const auto& member : object) {
      if (inside) {
        out_ += ' ';
        inside = false;
      } else {
        out_.append(indent, ' ');
      }
      key(view(member.key()), indent);
      value(member.value(), indent + 2, false);
    }
  }
  void entries(const JsonArray& array, std::size_t indent) {
    for (const Json& entry : array) {
      out_.append(indent, ' ');
      out_ += '-';
      value(entry, indent + 2, true);
    }
  }

 private:
  // A key that shares the line with its colon may have 1,024 characters; a longer one says that it
  // is a key and has the colon below.
  void key(std::string_view name, std::size_t indent) {
    constexpr std::size_t kLongest = 1000;
    std::string written;
    append_text(written, name);
    if (written.size() <= kLongest) {
      out_ += written;
    } else {
      out_ += "? " + written + '\n';
      out_.append(indent, ' ');
    }
    out_ += ':';
  }

  std::string& out_;
};

}  // namespace

std::string to_yaml(const Json& document) {
  std::string out;
  Writer writer(out);
  if (document.is_object() && !document.get_object().empty()) {
    writer.members(document.get_object(), 0, false);
  } else if (document.is_array() && !document.get_array().empty()) {
    writer.entries(document.get_array(), 0);
  } else {
    writer.leaf(document);
    out += '\n';
  }
  return out;
}

}  // namespace krater
