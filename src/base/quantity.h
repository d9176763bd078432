// Kubernetes resource.Quantity, exactly: a decimal integer scaled by a power of ten, no floating
// point.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krater {

class Quantity {
 public:
  enum class Format { DecimalSI, BinarySI, DecimalExponent };

  Quantity() = default;
  // value * 10^-9 is not needed below nano: digits finer than 1n round up (away from zero), as
  // upstream does.
  static Result<Quantity> parse(std::string_view text);
  static Quantity from_milli(std::int64_t milli, Format format = Format::DecimalSI);
  static Quantity from_value(std::int64_t value, Format format = Format::DecimalSI);

  // Rounded up (away from zero) and saturated at the limits of int64, as
  // Quantity.Value()/MilliValue().
  std::int64_t value() const;
  std::int64_t milli_value() const;
  bool is_zero() const { return nanos_ == 0; }
  int sign() const { return nanos_ < 0 ? -1 : nanos_ > 0 ? 1 : 0; }
  // Canonical text: "1500m", "1Gi", "2", "12e6".
  std::string text() const;
  Format format() const { return format_; }

  // Saturating. The left side's format is kept unless it is zero.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  // By amount only: "1" == "1000m".
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ < b.nanos_   ? std::strong_ordering::less
           : a.nanos_ > b.nanos_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }

 private:
  __extension__ using Wide = __int128;  // nano units: +-1.7e29 whole units
  Wide nanos_ = 0;
  Format format_ = Format::DecimalSI;
};

}  // namespace krater
