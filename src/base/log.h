// Log facade: a dotted event name and typed fields, one line an event. Any thread. spdlog stays
// behind it.
//   log::info("rayjob.phase", {{"job", key}, {"from", a}, {"to", b}});
// Pure code does not log: it returns reasons.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace krater::log {

enum class Level { Debug, Info, Warn, Error };

struct Field {
  template <typename T>
  Field(std::string_view field_name, const T& field_value)
      : name(field_name), value(to_text(field_value)) {}

  std::string_view name;
  std::string value;

 private:
  template <typename T>
  static std::string to_text(const T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      return v ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return std::to_string(v);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return std::string(std::string_view(v));
    } else {
      return v.text();  // strong ids
    }
  }
};

using Fields = std::initializer_list<Field>;

// Call once at start. `file` empty: standard error.
void configure(Level threshold, const std::string& file = {});
bool enabled(Level level);
void write(Level level, std::string_view event, Fields fields);

inline void debug(std::string_view event, Fields fields = {}) {
  if (enabled(Level::Debug)) write(Level::Debug, event, fields);
}
inline void info(std::string_view event, Fields fields = {}) {
  write(Level::Info, event, fields);
}
inline void warn(std::string_view event, Fields fields = {}) {
  write(Level::Warn, event, fields);
}
inline void error(std::string_view event, Fields fields = {}) {
  write(Level::Error, event, fields);
}

}  // namespace krater::log
