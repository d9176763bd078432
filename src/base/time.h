// Wall time as people and objects see it, and its text forms. Steady time is std::chrono's.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krater {

using Duration = std::chrono::nanoseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

// Nanoseconds since 1970-01-01T00:00:00Z.
class WallTime {
 public:
  constexpr WallTime() = default;
  constexpr explicit WallTime(std::int64_t unix_nanos) : nanos_(unix_nanos) {}
  static constexpr WallTime from_unix_seconds(std::int64_t seconds) {
    return WallTime(seconds * 1'000'000'000);
  }
  constexpr std::int64_t unix_nanos() const { return nanos_; }
  // Rounded towards the past.
  constexpr std::int64_t unix_seconds() const {
    return nanos_ / 1'000'000'000 - (nanos_ % 1'000'000'000 < 0 ? 1 : 0);
  }
  friend constexpr auto operator<=>(const WallTime&, const WallTime&) = default;
  friend constexpr WallTime operator+(WallTime t, Duration d) {
    return WallTime(t.nanos_ + d.count());
  }
  friend constexpr WallTime operator-(WallTime t, Duration d) {
    return WallTime(t.nanos_ - d.count());
  }
  friend constexpr Duration operator-(WallTime a, WallTime b) {
    return Duration(a.nanos_ - b.nanos_);
  }

 private:
  std::int64_t nanos_ = 0;
};

// metav1.Time: "2026-11-29T12:00:00Z", whole seconds, UTC.
std::string to_rfc3339(WallTime time);
// metav1.MicroTime: "2026-11-29T12:00:00.000000Z".
std::string to_rfc3339_micro(WallTime time);
// RFC 3339 with any offset and 0..9 fraction digits; nothing else.
std::optional<WallTime> parse_rfc3339(std::string_view text);
// Age as kubectl's tables print it: "5s", "2m10s", "3h", "4d2h", "2y30d" (k8s HumanDuration).
std::string human_duration(Duration age);
// Go's time.ParseDuration: "300ms", "1.5h", "2h45m".
std::optional<Duration> parse_go_duration(std::string_view text);

}  // namespace krater
