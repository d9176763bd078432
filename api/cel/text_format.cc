#include "api/cel/text_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/cel/functions.h"
#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;
constexpr int kDefaultPrecision = 6;
constexpr int kMostPrecision = 1000;
constexpr int kDeepest = 250;

Error format_error(std::string message) {
  return make_error(Code::BadRequest, std::move(message));
}

std::string fixed_text(double number, int precision) {
  char buffer[1500];
  const auto done =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed, precision);
  return std::string(buffer, done.ptr);
}

// 1234567.891 -> "1,234,567.891"
std::string grouped(std::string text) {
  const std::size_t start = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (std::size_t i = end; i > start + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string not_finite(double number) {
  return std::isnan(number) ? "NaN" : number < 0 ? "-\u221e" : "\u221e";
}

// "1.234568×10⁰⁴", as wide as the precision says.
std::string scientific_text(double number, int width) {
  std::string out;
  if (!std::isfinite(number)) {
    out = not_finite(number);
  } else {
    char buffer[64];
    const auto done = std::to_chars(buffer, buffer + sizeof buffer, number,
                                    std::chars_format::scientific, kDefaultPrecision);
    const std::string_view text(buffer, static_cast<std::size_t>(done.ptr - buffer));
    const std::size_t at = text.find('e');
    out = std::string(text.substr(0, at)) + "\u00d710";
    static constexpr std::string_view kRaised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3",
                                                   "\u2074", "\u2075", "\u2076", "\u2077",
                                                   "\u2078", "\u2079"};
    for (const char c : text.substr(at + 1)) {
      if (c == '-') out += "\u207b";
      if (c >= '0' && c <= '9') out += kRaised[c - '0'];
    }
  }
  const std::uint64_t length = code_points(out);
  const auto wanted = static_cast<std::uint64_t>(std::max(width, 0));
  if (length < wanted) out.insert(0, wanted - length, ' ');
  return out;
}

Result<std::string> text_of_value(const Value& value, int depth);

// A part of a list or a map, as a literal would be written.
Result<std::string> text_of_part(const Value& value, int depth) {
  switch (value.kind()) {
    case Kind::Double:
      if (!std::isfinite(value.as_double())) return go_quoted(go_double_text(value.as_double()));
      return fixed_text(value.as_double(), kDefaultPrecision);
    case Kind::Timestamp:
    case Kind::Duration: {
      const Value text = call_string(Args(&value, 1));
      return std::string(value.kind() == Kind::Timestamp ? "timestamp(" : "duration(") +
             go_quoted(text.text()) + ")";
    }
    case Kind::String:
      return go_quoted(value.text());
    case Kind::Bytes:
      return "b" + go_quoted(value.text());
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      return format_error("no formatting function for " + value.type_name());
    case Kind::Error:
    case Kind::Null:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Type:
    case Kind::List:
    case Kind::Map:
      break;
  }
  return text_of_value(value, depth);
}

Result<std::string> text_of_list(const Value& list, int depth) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY_ASSIGN(const std::string part, text_of_part(list.at(i), depth + 1));
    if (i > 0) out += ", ";
    out += part;
    if (out.size() > kMostBytes) return format_error(std::string(kCostExceeded));
  }
  return out + "]";
}

Result<std::string> text_of_map(const Value& map, int depth) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const Value& key : map.keys()) {
    const std::optional<Value> value = map.find(key);
    if (!value) continue;
    TRY_ASSIGN(std::string key_text, text_of_part(key, depth + 1));
    TRY_ASSIGN(std::string value_text, text_of_part(*value, depth + 1));
    parts.emplace_back(std::move(key_text), std::move(value_text));
  }
  std::sort(parts.begin(), parts.end());
  std::string out = "{";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += (i > 0 ? ", " : "") + parts[i].first + ":" + parts[i].second;
    if (out.size() > kMostBytes) return format_error(std::string(kCostExceeded));
  }
  return out + "}";
}

Result<std::string> text_of_value(const Value& value, int depth) {
  if (depth > kDeepest) return format_error(std::string(kCostExceeded));
  if (value.is_error()) return format_error(std::string(value.text()));
  if (value.kind() == Kind::List) return text_of_list(value, depth);
  if (value.kind() == Kind::Map) return text_of_map(value, depth);
  if (value.kind() == Kind::Null) return std::string("null");
  const Value text = call_string(Args(&value, 1));
  if (value.kind() == Kind::Opaque || text.is_error()) {
    return format_error(refusal_of('s', value.type_name()));
  }
  return std::string(text.text());
}

std::string in_base(const Value& value, unsigned base) {
  const bool negative = value.kind() == Kind::Int && value.as_int() < 0;
  std::uint64_t magnitude = value.kind() == Kind::Uint ? value.as_uint()
                            : negative ? 0 - static_cast<std::uint64_t>(value.as_int())
                                       : static_cast<std::uint64_t>(value.as_int());
  std::string out;
  do {
    out += "0123456789abcdef"[magnitude % base];
    magnitude /= base;
  } while (magnitude != 0);
  if (negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

bool is_whole(const Value& value) {
  return value.kind() == Kind::Int || value.kind() == Kind::Uint;
}

Result<std::string> floating_text(const Value& value, const FormatClause& clause) {
  double number = 0;
  if (value.kind() == Kind::Double) {
    number = value.as_double();
  } else if (value.kind() == Kind::String &&
             (value.text() == "NaN" || value.text() == "Infinity" || value.text() == "-Infinity")) {
    number = value.text() == "NaN" ? std::nan("") : value.text()[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  } else {
    return format_error(refusal_of(clause.verb, value.type_name()));
  }
  const int precision = clause.precision.value_or(kDefaultPrecision);
  if (clause.verb == 'e') return scientific_text(number, precision);
  if (!std::isfinite(number)) return not_finite(number);
  return grouped(fixed_text(number, precision));
}

Result<std::string> clause_text(const Value& value, const FormatClause& clause) {
  const auto refuse = [&] { return format_error(refusal_of(clause.verb, value.type_name())); };
  switch (clause.verb) {
    case 's':
      return text_of_value(value, 0);
    case 'd':
      if (!is_whole(value)) return refuse();
      return in_base(value, 10);
    case 'o':
      if (!is_whole(value)) return refuse();
      return in_base(value, 8);
    case 'b':
      if (value.kind() == Kind::Bool) return std::string(value.as_bool() ? "1" : "0");
      if (!is_whole(value)) return refuse();
      return in_base(value, 2);
    case 'x':
    case 'X': {
      std::string out;
      if (is_whole(value)) {
        out = in_base(value, 16);
      } else if (value.kind() == Kind::String || value.kind() == Kind::Bytes) {
        out = hex_encode(value.text());
      } else {
        return refuse();
      }
      if (clause.verb == 'X') {
        std::transform(out.begin(), out.end(), out.begin(), [](char c) {
          return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
        });
      }
      return out;
    }
    default:
      return floating_text(value, clause);
  }
}

}  // namespace

std::string refusal_of(char verb, std::string_view type_name) {
  std::string out;
  switch (verb) {
    case 's':
      out =
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps";
      break;
    case 'd':
      out = "decimal clause can only be used on integers";
      break;
    case 'f':
      out = "fixed-point clause can only be used on doubles";
      break;
    case 'e':
      out = "scientific clause can only be used on doubles";
      break;
    case 'b':
      out = "only integers and bools can be formatted as binary";
      break;
    case 'o':
      out = "octal clause can only be used on integers";
      break;
    default:
      out = "only integers, byte buffers, and strings can be formatted as hex";
      break;
  }
  return out + ", was given " + std::string(type_name);
}

Result<std::vector<FormatClause>> parse_format(std::string_view format, std::size_t arguments) {
  std::vector<FormatClause> out;
  FormatClause clause;
  std::size_t used = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      clause.literal += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      clause.literal += '%';
      ++i;
      continue;
    }
    if (i + 1 >= format.size()) return format_error("unexpected end of string");
    if (used >= arguments) {
      return format_error("index " + std::to_string(used) + " out of range");
    }
    ++used;
    ++i;
    if (format[i] == '.') {
      const std::size_t end = format.find_first_not_of("0123456789", i + 1);
      if (end == std::string_view::npos) {
        return format_error(
            "could not parse formatting clause: error while parsing precision: could not find end "
            "of precision specifier");
      }
      const std::string digits(format.substr(i + 1, end - i - 1));
      const std::optional<std::int64_t> precision = parse_int(digits);
      if (!precision || *precision > kMostPrecision) {
        return format_error(
            "could not parse formatting clause: error while parsing precision: error while "
            "converting precision to integer: strconv.Atoi: parsing " +
            go_quoted(digits) + ": invalid syntax");
      }
      clause.precision = static_cast<int>(*precision);
      i = end;
    }
    clause.verb = format[i];
    if (std::string_view("sdfebxXo").find(clause.verb) == std::string_view::npos) {
      return format_error("could not parse formatting clause: unrecognized formatting clause \"" +
                          std::string(1, clause.verb) + "\"");
    }
    out.push_back(std::move(clause));
    clause = FormatClause();
  }
  out.push_back(std::move(clause));
  return out;
}

Value call_format(Args args) {
  if (args[0].kind() != Kind::String || args[1].kind() != Kind::List) return no_such_overload();
  const Result<std::vector<FormatClause>> clauses = parse_format(args[0].text(), args[1].size());
  if (!clauses) return Value::error(clauses.error().message);
  std::string out;
  std::size_t used = 0;
  for (const FormatClause& clause : *clauses) {
    out += clause.literal;
    if (clause.verb == 0) break;
    const Result<std::string> text = clause_text(args[1].at(used++), clause);
    if (!text) return Value::error("error during formatting: " + text.error().message);
    out += *text;
    if (out.size() > kMostBytes) return too_expensive();
  }
  return Value::string(std::move(out));
}

}  // namespace krater::cel
