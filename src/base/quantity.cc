#include "base/quantity.h"

#include <array>
#include <optional>

namespace krater {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kNanosPerUnit = 1'000'000'000;
// Upstream caps amounts at +-(2^63-1) whole units, for every form.
constexpr Wide kMaxNanos = static_cast<Wide>(INT64_MAX) * kNanosPerUnit;

struct Suffix {
  std::string_view text;
  int base;      // 2 or 10
  int exponent;  // power of the base
  Quantity::Format format;
};

constexpr std::array<Suffix, 17> kSuffixes{
    {{"", 10, 0, Quantity::Format::DecimalSI},
     {"n", 10, -9, Quantity::Format::DecimalSI},
     {"u", 10, -6, Quantity::Format::DecimalSI},
     {"m", 10, -3, Quantity::Format::DecimalSI},
     {"k", 10, 3, Quantity::Format::DecimalSI},
     {"M", 10, 6, Quantity::Format::DecimalSI},
     {"G", 10, 9, Quantity::Format::DecimalSI},
     {"T", 10, 12, Quantity::Format::DecimalSI},
     {"P", 10, 15, Quantity::Format::DecimalSI},
     {"E", 10, 18, Quantity::Format::DecimalSI},
     {"Ki", 2, 10, Quantity::Format::BinarySI},
     {"Mi", 2, 20, Quantity::Format::BinarySI},
     {"Gi", 2, 30, Quantity::Format::BinarySI},
     {"Ti", 2, 40, Quantity::Format::BinarySI},
     {"Pi", 2, 50, Quantity::Format::BinarySI},
     {"Ei", 2, 60, Quantity::Format::BinarySI},
     {"mi", 0, 0, Quantity::Format::BinarySI}}};  // never legal

Error bad_format() {
  return make_error(Code::BadRequest,
                    "quantities must match the regular expression "
                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

std::optional<Suffix> suffix_of(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.base != 0 && suffix.text == text) return suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  int sign = 1;
  std::size_t at = 1;
  if (text[at] == '-' || text[at] == '+') sign = text[at++] == '-' ? -1 : 1;
  if (at == text.size()) return std::nullopt;
  int exponent = 0;
  for (; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9' || exponent > 1000) return std::nullopt;
    exponent = exponent * 10 + (text[at] - '0');
  }
  return Suffix{text, 10, sign * exponent, Quantity::Format::DecimalExponent};
}

// A saturating non-negative accumulator that remembers whether anything non-zero was cut off below
// one nano.
struct Scaled {
  Wide amount = 0;
  bool lost = false;

  void multiply(int by) {
    if (amount > kMaxNanos * 2 / by) {
      amount = kMaxNanos * 2;
    } else {
      amount *= by;
    }
  }
  void divide(int by) {
    lost = lost || amount % by != 0;
    amount /= by;
  }
};

std::int64_t rounded_up(Wide nanos, Wide unit) {
  Wide out = nanos / unit;
  if (nanos % unit > 0) ++out;
  if (nanos % unit < 0) --out;
  if (out > INT64_MAX) return INT64_MAX;
  if (out < INT64_MIN) return INT64_MIN;
  return static_cast<std::int64_t>(out);
}

std::string digits_of(Wide value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string reversed;
  for (Wide rest = negative ? -value : value; rest != 0; rest /= 10) {
    reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  if (negative) reversed += '-';
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.empty()) return bad_format();
  const bool negative = text[0] == '-';
  std::string_view rest = text;
  if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
  const std::size_t number_end = rest.find_first_not_of("0123456789.");
  const std::string_view number = rest.substr(0, number_end);
  const std::optional<Suffix> suffix = suffix_of(
      number_end == std::string_view::npos ? std::string_view() : rest.substr(number_end));
  const std::size_t dot = number.find('.');
  if (!suffix || number.empty() || number == "." ||
      (dot != std::string_view::npos && number.find('.', dot + 1) != std::string_view::npos)) {
    return bad_format();
  }

  // All digits as one integer, then shifts by the decimals, the suffix and the nano scale.
  Scaled scaled;
  int shift = 9 + (suffix->base == 10 ? suffix->exponent : 0);
  bool saturated = false;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] == '.') continue;
    const int digit = number[i] - '0';
    if (scaled.amount > static_cast<Wide>(1) << 100) {
      // Beyond any legal whole part; fraction digits this deep only matter as "something was lost".
      if (dot == std::string_view::npos || i < dot) saturated = true;
      scaled.lost = scaled.lost || digit != 0;
      continue;
    }
    scaled.amount = scaled.amount * 10 + digit;
    if (dot != std::string_view::npos && i > dot) --shift;
  }
  if (suffix->base == 2) {
    for (int i = 0; i < suffix->exponent / 10; ++i) {
      if (scaled.amount > static_cast<Wide>(1) << 115) saturated = true;
      if (!saturated) scaled.amount *= 1024;
    }
  }
  for (; shift > 0 && scaled.amount < kMaxNanos * 2 && scaled.amount != 0; --shift)
    scaled.multiply(10);
  for (; shift < 0 && scaled.amount != 0; ++shift) scaled.divide(10);
  if (scaled.lost) ++scaled.amount;
  if (saturated || scaled.amount > kMaxNanos) scaled.amount = kMaxNanos;

  Quantity out;
  out.nanos_ = negative ? -scaled.amount : scaled.amount;
  out.format_ = suffix->format;
  return out;
}

Quantity Quantity::from_milli(std::int64_t milli, Format format) {
  Quantity out;
  out.nanos_ = static_cast<Wide>(milli) * 1'000'000;
  out.format_ = format;
  return out;
}

Quantity Quantity::from_value(std::int64_t value, Format format) {
  Quantity out;
  out.nanos_ = static_cast<Wide>(value) * kNanosPerUnit;
  out.format_ = format;
  return out;
}

std::int64_t Quantity::value() const {
  return rounded_up(nanos_, kNanosPerUnit);
}
std::int64_t Quantity::milli_value() const {
  return rounded_up(nanos_, 1'000'000);
}

std::string Quantity::text() const {
  if (nanos_ == 0) return "0";
  // Binary form only for whole units of at least 1024; smaller or fractional amounts fall back to
  // decimal.
  const bool whole = nanos_ % kNanosPerUnit == 0;
  const Wide magnitude = nanos_ < 0 ? -nanos_ : nanos_;
  if (format_ == Format::BinarySI && whole && magnitude >= 1024 * kNanosPerUnit) {
    constexpr std::array<std::string_view, 7> kBinary{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    Wide amount = nanos_ / kNanosPerUnit;
    std::size_t step = 0;
    while (step + 1 < kBinary.size() && amount % 1024 == 0) {
      amount /= 1024;
      ++step;
    }
    return digits_of(amount) + std::string(kBinary[step]);
  }
  // Decimal: the largest power of 1000 that leaves no fraction.
  constexpr std::array<std::string_view, 10> kDecimal{"n", "u", "m", "",  "k",
                                                      "M", "G", "T", "P", "E"};
  Wide amount = nanos_;
  std::size_t step = 0;
  while (step + 1 < kDecimal.size() && amount % 1000 == 0) {
    amount /= 1000;
    ++step;
  }
  if (format_ == Format::DecimalExponent) {
    const int exponent = static_cast<int>(step) * 3 - 9;
    return digits_of(amount) + (exponent == 0 ? std::string() : "e" + std::to_string(exponent));
  }
  return digits_of(amount) + std::string(kDecimal[step]);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (nanos_ == 0) format_ = other.format_;
  nanos_ += other.nanos_;
  if (nanos_ > kMaxNanos) nanos_ = kMaxNanos;
  if (nanos_ < -kMaxNanos) nanos_ = -kMaxNanos;
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (nanos_ == 0) format_ = other.format_;
  nanos_ -= other.nanos_;
  if (nanos_ > kMaxNanos) nanos_ = kMaxNanos;
  if (nanos_ < -kMaxNanos) nanos_ = -kMaxNanos;
  return *this;
}

}  // namespace krater
