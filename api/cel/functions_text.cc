// Strings. Indexes and lengths count code points.
#include <algorithm>

#include "api/cel/functions.h"
#include "api/cel/regex.h"
#include "api/cel/runes.h"
#include "api/cel/text_search.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

bool all_text(Args args, std::size_t count) {
  return std::all_of(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const Value& arg) { return arg.kind() == Kind::String; });
}

Value out_of_range(std::int64_t index) {
  return Value::error("index out of range: " + std::to_string(index));
}

Value whole(std::size_t value) {
  return Value::of(static_cast<std::int64_t>(value));
}
Value not_found() {
  return Value::of(std::int64_t{-1});
}

// The code point number of a byte offset.
Value place_of(const std::vector<std::size_t>& runes, std::size_t offset) {
  const auto found = std::lower_bound(runes.begin(), runes.end(), offset);
  return whole(static_cast<std::size_t>(found - runes.begin()));
}

Value index_in_text(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  const std::string_view text = args[0].text();
  const std::string_view part = args[1].text();
  const std::vector<std::size_t> runes = rune_offsets(text);
  const std::size_t length = runes.size() - 1;
  const std::int64_t from = args.size() == 3 ? args[2].as_int() : 0;
  if (from < 0) return out_of_range(from);
  if (part.empty()) return Value::of(from);
  if (static_cast<std::size_t>(from) >= length) return not_found();
  const std::size_t found = find_first(text, part, runes[static_cast<std::size_t>(from)]);
  return found == std::string_view::npos ? not_found() : place_of(runes, found);
}

Value last_index_in_text(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  const std::string_view text = args[0].text();
  const std::string_view part = args[1].text();
  const std::vector<std::size_t> runes = rune_offsets(text);
  const std::size_t length = runes.size() - 1;
  if (args.size() == 2) {
    if (part.empty()) return whole(length);
    const std::size_t found = find_last(text, part, text.size());
    return found == std::string_view::npos ? not_found() : place_of(runes, found);
  }
  const std::int64_t from = args[2].as_int();
  if (from < 0) return out_of_range(from);
  if (part.empty()) return Value::of(from);
  if (static_cast<std::size_t>(from) >= length) return not_found();
  const std::size_t found = find_last(text, part, runes[static_cast<std::size_t>(from)]);
  return found == std::string_view::npos ? not_found() : place_of(runes, found);
}

// Of lists: the first or last equal item.
Value index_in_list(Args args, bool last) {
  const std::size_t size = args[0].size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = last ? size - 1 - i : i;
    if (equal(args[0].at(at), args[1]).is(true)) return whole(at);
  }
  return not_found();
}

bool third_is_int(Args args) {
  return args.size() < 3 || args[2].kind() == Kind::Int;
}

template <typename Change>
Value each_ascii(const Value& value, Change change) {
  if (value.kind() != Kind::String) return no_such_overload();
  std::string out(value.text());
  std::transform(out.begin(), out.end(), out.begin(), change);
  return Value::string(std::move(out));
}

Value part_of(std::string_view text) {
  return Value::string(std::string(text));
}

// White space as Unicode has it, by code point.
bool is_space(std::string_view rune) {
  if (rune.size() == 1) {
    return rune[0] == ' ' || (rune[0] >= '\t' && rune[0] <= '\r');
  }
  static constexpr std::string_view kOther[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                                "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                                "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                                "\u2029", "\u202f", "\u205f", "\u3000"};
  return std::find(std::begin(kOther), std::end(kOther), rune) != std::end(kOther);
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

// Every match, `limit` at most unless it is negative.
Value all_matches(const re2::RE2& pattern, std::string_view text, std::int64_t limit) {
  std::vector<Value> out;
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size() && (limit < 0 || static_cast<std::int64_t>(out.size()) < limit)) {
    re2::StringPiece found;
    if (!pattern.Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
    const auto start = static_cast<std::size_t>(found.data() - text.data());
    const std::size_t end = start + found.size();
    // An empty match right behind the match before it does not count.
    if (!(found.empty() && start == last_end)) {
      out.push_back(part_of(text.substr(start, found.size())));
    }
    last_end = end;
    from = end;
    if (found.empty()) {
      ++from;
      while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
    }
  }
  return Value::list(std::move(out));
}

}  // namespace

Value call_contains(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  const std::string_view part = args[1].text();
  return Value::of(part.empty() || find_first(args[0].text(), part, 0) != std::string_view::npos);
}
Value call_starts_with(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  return Value::of(args[0].text().starts_with(args[1].text()));
}
Value call_ends_with(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  return Value::of(args[0].text().ends_with(args[1].text()));
}

Value apply_pattern(std::string_view function, const re2::RE2& pattern, Args args) {
  if (!all_text(args, 2) || !third_is_int(args)) return no_such_overload();
  const std::string_view text = args[0].text();
  if (function == "matches") {
    if (!pattern.ok()) return Value::error(regex_problem(pattern));
    return Value::of(re2::RE2::PartialMatch(piece(text), pattern));
  }
  if (!pattern.ok()) return Value::error("Illegal regex: " + regex_problem(pattern));
  if (function == "findAll")
    return all_matches(pattern, text, args.size() == 3 ? args[2].as_int() : -1);
  re2::StringPiece found;
  if (!pattern.Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    return part_of("");
  }
  return part_of(std::string_view(found.data(), found.size()));
}

Value call_matches(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  return apply_pattern("matches", *compile_regex(args[1].text()), args);
}
Value call_find(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  return apply_pattern("find", *compile_regex(args[1].text()), args);
}
Value call_find_all(Args args) {
  if (!all_text(args, 2)) return no_such_overload();
  return apply_pattern("findAll", *compile_regex(args[1].text()), args);
}

Value call_char_at(Args args) {
  if (args[0].kind() != Kind::String || args[1].kind() != Kind::Int) return no_such_overload();
  const std::vector<std::size_t> runes = rune_offsets(args[0].text());
  const std::int64_t at = args[1].as_int();
  if (at < 0 || at >= static_cast<std::int64_t>(runes.size())) return out_of_range(at);
  const auto i = static_cast<std::size_t>(at);
  if (i + 1 == runes.size()) return part_of("");
  return part_of(args[0].text().substr(runes[i], runes[i + 1] - runes[i]));
}

Value call_index_of(Args args) {
  if (args[0].kind() == Kind::List && args.size() == 2) return index_in_list(args, false);
  return third_is_int(args) ? index_in_text(args) : no_such_overload();
}
Value call_last_index_of(Args args) {
  if (args[0].kind() == Kind::List && args.size() == 2) return index_in_list(args, true);
  return third_is_int(args) ? last_index_in_text(args) : no_such_overload();
}

Value call_lower_ascii(Args args) {
  return each_ascii(
      args[0], [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}
Value call_upper_ascii(Args args) {
  return each_ascii(
      args[0], [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
}

Value call_replace(Args args) {
  if (!all_text(args, 3)) return no_such_overload();
  if (args.size() == 4 && args[3].kind() != Kind::Int) return no_such_overload();
  const std::int64_t limit = args.size() == 4 ? args[3].as_int() : -1;
  const std::string_view text = args[0].text();
  const std::string_view from = args[1].text();
  const std::string_view to = args[2].text();
  std::string out;
  std::int64_t count = 0;
  std::size_t at = 0;
  const auto more = [&count, limit] { return limit < 0 || count < limit; };
  if (from.empty()) {  // between all code points
    const std::vector<std::size_t> runes = rune_offsets(text);
    for (std::size_t i = 0; i < runes.size() && more(); ++i, ++count) {
      if (i > 0) out += text.substr(at, runes[i] - at);
      out += to;
      at = runes[i];
      if (out.size() > kMostBytes) return too_expensive();
    }
  } else {
    for (; more(); ++count) {
      const std::size_t found = find_first(text, from, at);
      if (found == std::string_view::npos) break;
      out += text.substr(at, found - at);
      out += to;
      at = found + from.size();
      if (out.size() > kMostBytes) return too_expensive();
    }
  }
  out += text.substr(at);
  return Value::string(std::move(out));
}

Value call_split(Args args) {
  if (!all_text(args, 2) || !third_is_int(args)) return no_such_overload();
  const std::int64_t limit = args.size() == 3 ? args[2].as_int() : -1;
  const std::string_view text = args[0].text();
  const std::string_view separator = args[1].text();
  std::vector<Value> out;
  if (limit == 0) return Value::list(std::move(out));
  const auto full = [&out, limit] {
    return limit > 0 && static_cast<std::int64_t>(out.size()) + 1 >= limit;
  };
  std::size_t at = 0;
  if (separator.empty()) {
    const std::vector<std::size_t> runes = rune_offsets(text);
    for (std::size_t i = 0; i + 1 < runes.size(); ++i) {
      if (full()) {
        out.push_back(part_of(text.substr(runes[i])));
        break;
      }
      out.push_back(part_of(text.substr(runes[i], runes[i + 1] - runes[i])));
    }
    return Value::list(std::move(out));
  }
  while (!full()) {
    const std::size_t found = find_first(text, separator, at);
    if (found == std::string_view::npos) break;
    out.push_back(part_of(text.substr(at, found - at)));
    at = found + separator.size();
  }
  out.push_back(part_of(text.substr(at)));
  return Value::list(std::move(out));
}

Value call_join(Args args) {
  if (args[0].kind() != Kind::List) return no_such_overload();
  if (args.size() == 2 && args[1].kind() != Kind::String) return no_such_overload();
  const std::string_view separator = args.size() == 2 ? args[1].text() : std::string_view();
  std::string out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    const Value item = args[0].at(i);
    if (item.is_error()) return item;
    if (item.kind() != Kind::String) {
      const Value shown = call_string(Args(&item, 1));
      return Value::error("join: invalid input: " +
                          (shown.is_error() ? item.type_name() : std::string(shown.text())));
    }
    if (i > 0) out += separator;
    out += item.text();
    if (out.size() > kMostBytes) return too_expensive();
  }
  return Value::string(std::move(out));
}

Value call_substring(Args args) {
  if (args[0].kind() != Kind::String || args[1].kind() != Kind::Int || !third_is_int(args)) {
    return no_such_overload();
  }
  const std::vector<std::size_t> runes = rune_offsets(args[0].text());
  const auto length = static_cast<std::int64_t>(runes.size()) - 1;
  const std::int64_t start = args[1].as_int();
  const std::int64_t end = args.size() == 3 ? args[2].as_int() : length;
  if (args.size() == 3 && start > end) {
    return Value::error("invalid substring range. start: " + std::to_string(start) +
                        ", end: " + std::to_string(end));
  }
  if (start < 0 || start > length) return out_of_range(start);
  if (end < 0 || end > length) return out_of_range(end);
  const std::size_t from = runes[static_cast<std::size_t>(start)];
  return part_of(args[0].text().substr(from, runes[static_cast<std::size_t>(end)] - from));
}

Value call_trim(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  const std::string_view text = args[0].text();
  const std::vector<std::size_t> runes = rune_offsets(text);
  std::size_t first = 0;
  std::size_t last = runes.size() - 1;
  const auto rune = [&](std::size_t i) { return text.substr(runes[i], runes[i + 1] - runes[i]); };
  while (first < last && is_space(rune(first))) ++first;
  while (last > first && is_space(rune(last - 1))) --last;
  return part_of(text.substr(runes[first], runes[last] - runes[first]));
}

Value call_quote(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kTo = "abfnrtv\\\"";
  std::string out = "\"";
  for (const char c : args[0].text()) {
    const std::size_t special = kFrom.find(c);
    if (special != std::string_view::npos) {
      out += '\\';
      out += kTo[special];
    } else {
      out += c;
    }
  }
  return Value::string(out + '"');
}

}  // namespace krater::cel
