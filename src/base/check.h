// The three answers to "can this happen?": outside failures are a Result; a broken invariant of
// ours is CHECK (stays on in release builds); should-not-happen-but-survivable is SOFT_CHECK.
#pragma once

#include <cstdint>
#include <string_view>

namespace krater {

[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               std::string_view detail);
void soft_check_failed(const char* file, int line, const char* expression);
// Number of SOFT_CHECKs that failed since start. Tests and simulations assert that it is 0.
std::uint64_t soft_check_failures();

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::krater::check_failed(__FILE__, __LINE__, #condition, {}); \
  } while (false)
#define CHECK_MSG(condition, detail)                                    \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::krater::check_failed(__FILE__, __LINE__, #condition, (detail)); \
  } while (false)
// True when the condition holds; counts and logs otherwise.
#define SOFT_CHECK(condition) \
  ((condition) ? true : (::krater::soft_check_failed(__FILE__, __LINE__, #condition), false))

}  // namespace krater
