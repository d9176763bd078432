// Conversions between types.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "api/cel/functions.h"
#include "api/cel/times.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

Value cannot(const Value& from, const char* to) {
  return Value::error("type conversion error from '" + from.type_name() + "' to '" + to + "'");
}

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  if (!text.empty() && text[0] == '+' && std::is_signed_v<Number>) text.remove_prefix(1);
  if (text.empty() || text[0] == '+') return std::nullopt;
  Number out = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return out;
}

std::optional<double> floating(std::string_view text) {
  std::string lower = to_lower(text);
  const bool negative = lower.starts_with('-');
  if (negative || lower.starts_with('+')) lower.erase(0, 1);
  if (lower == "inf" || lower == "infinity") return negative ? -HUGE_VAL : HUGE_VAL;
  if (lower == "nan") return std::nan("");
  const bool hex = lower.starts_with("0x");
  if (hex && lower.find('p') == std::string::npos) return std::nullopt;
  if (lower.empty() || lower.find_first_not_of(hex ? "0123456789abcdefxp.+-" : "0123456789.e+-") !=
                           std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double out = std::strtod(lower.c_str(), &end);
  if (end != lower.c_str() + lower.size() || !std::isfinite(out)) return std::nullopt;
  return negative ? -out : out;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t code = lead & (length == 1 ? 0x7FU : 0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = (code << 6) | (next & 0x3FU);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

Value call_int(Args args) {
  const Value& from = args[0];
  switch (from.kind()) {
    case Kind::Int:
      return from;
    case Kind::Uint:
      if (from.as_uint() > INT64_MAX) return Value::error("integer overflow");
      return Value::of(static_cast<std::int64_t>(from.as_uint()));
    case Kind::Double:
      if (!(from.as_double() > -9223372036854775808.0 &&
            from.as_double() < 9223372036854775808.0)) {
        return Value::error("integer overflow");
      }
      return Value::of(static_cast<std::int64_t>(from.as_double()));
    case Kind::String: {
      const auto out = whole_number<std::int64_t>(from.text());
      return out ? Value::of(*out) : cannot(from, "int");
    }
    case Kind::Timestamp:
      return Value::of(from.as_timestamp().seconds);
    case Kind::Duration:
      return Value::of(from.as_nanos());
    case Kind::Error:
    case Kind::Null:
    case Kind::Bool:
    case Kind::Bytes:
    case Kind::Type:
    case Kind::List:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Opaque:
    case Kind::Unexposed:
      break;
  }
  return no_such_overload();
}

Value call_uint(Args args) {
  const Value& from = args[0];
  constexpr const char* kOverflow = "unsigned integer overflow";
  if (from.kind() == Kind::Uint) return from;
  if (from.kind() == Kind::Int) {
    if (from.as_int() < 0) return Value::error(kOverflow);
    return Value::of(static_cast<std::uint64_t>(from.as_int()));
  }
  if (from.kind() == Kind::Double) {
    if (!(from.as_double() >= 0 && from.as_double() < 18446744073709551616.0)) {
      return Value::error(kOverflow);
    }
    return Value::of(static_cast<std::uint64_t>(from.as_double()));
  }
  if (from.kind() == Kind::String) {
    const auto out = whole_number<std::uint64_t>(from.text());
    return out ? Value::of(*out) : cannot(from, "uint");
  }
  return no_such_overload();
}

Value call_double(Args args) {
  const Value& from = args[0];
  if (from.kind() == Kind::Double) return from;
  if (from.kind() == Kind::Int) return Value::of(static_cast<double>(from.as_int()));
  if (from.kind() == Kind::Uint) return Value::of(static_cast<double>(from.as_uint()));
  if (from.kind() == Kind::String) {
    const std::optional<double> out = floating(from.text());
    return out ? Value::of(*out) : cannot(from, "double");
  }
  return no_such_overload();
}

std::string go_double_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Inf" : "+Inf";
  char buffer[64];
  const auto done =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  *done.ptr = '\0';
  const std::string_view text(buffer, static_cast<std::size_t>(done.ptr - buffer));
  const int exponent = std::atoi(text.substr(text.find('e') + 1).data());
  if (number != 0 && (exponent < -4 || exponent >= 6)) return std::string(text);
  const auto plain =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  return std::string(buffer, plain.ptr);
}

Value call_string(Args args) {
  const Value& from = args[0];
  switch (from.kind()) {
    case Kind::String:
      return from;
    case Kind::Bool:
      return Value::string(from.as_bool() ? "true" : "false");
    case Kind::Int:
      return Value::string(std::to_string(from.as_int()));
    case Kind::Uint:
      return Value::string(std::to_string(from.as_uint()));
    case Kind::Double:
      return Value::string(go_double_text(from.as_double()));
    case Kind::Bytes:
      if (!is_utf8(from.text())) {
        return Value::error("invalid UTF-8 in bytes, cannot convert to string");
      }
      return Value::string(std::string(from.text()));
    case Kind::Timestamp:
      return Value::string(text_of(from.as_timestamp()));
    case Kind::Duration:
      return Value::string(duration_text(from.as_nanos()));
    case Kind::Type:
      return Value::string(std::string(from.text()));
    case Kind::Opaque:
      if (from.type_name() == "net.IP" || from.type_name() == "net.CIDR") {
        return Value::string(address_text(from));
      }
      break;
    case Kind::Error:
    case Kind::Null:
    case Kind::List:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Unexposed:
      break;
  }
  return no_such_overload();
}

Value call_bytes(Args args) {
  if (args[0].kind() == Kind::Bytes) return args[0];
  if (args[0].kind() == Kind::String) return Value::bytes(std::string(args[0].text()));
  return no_such_overload();
}

Value call_bool(Args args) {
  const Value& from = args[0];
  if (from.kind() == Kind::Bool) return from;
  if (from.kind() == Kind::String) {
    for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
      if (from.text() == yes) return Value::of(true);
    }
    for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
      if (from.text() == no) return Value::of(false);
    }
    return cannot(from, "bool");
  }
  return no_such_overload();
}

Value call_timestamp(Args args) {
  const Value& from = args[0];
  if (from.kind() == Kind::Timestamp) return from;
  if (from.kind() == Kind::Int) {
    if (!in_range(from.as_int())) return Value::error("timestamp overflow");
    return Value::of(Timestamp{from.as_int(), 0});
  }
  if (from.kind() == Kind::String) {
    const std::optional<Timestamp> out = parse_timestamp(from.text());
    if (out && !in_range(out->seconds)) return Value::error("timestamp overflow");
    return out ? Value::of(*out) : cannot(from, "google.protobuf.Timestamp");
  }
  return no_such_overload();
}

Value call_duration(Args args) {
  const Value& from = args[0];
  if (from.kind() == Kind::Duration) return from;
  if (from.kind() == Kind::String) {
    const std::optional<std::int64_t> out = parse_duration(from.text());
    if (out) return Value::of(Nanoseconds{*out});
  }
  const bool convertible = from.kind() == Kind::String || from.kind() == Kind::Int;
  return convertible ? cannot(from, "google.protobuf.Duration") : no_such_overload();
}

Value call_dyn(Args args) {
  return args[0];
}

Value call_type(Args args) {
  return Value::type(args[0].type_name());
}

}  // namespace krater::cel
