#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/log.h"

namespace krater {
namespace {
std::atomic<std::uint64_t> failures{0};
}

void check_failed(const char* file, int line, const char* expression, std::string_view detail) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s %.*s\n", file, line, expression,
               static_cast<int>(detail.size()), detail.data());
  std::fflush(stderr);
  std::abort();
}

void soft_check_failed(const char* file, int line, const char* expression) {
  failures.fetch_add(1, std::memory_order_relaxed);
  log::error("check.soft", {{"file", file}, {"line", line}, {"expression", expression}});
}

std::uint64_t soft_check_failures() {
  return failures.load(std::memory_order_relaxed);
}

}  // namespace krater
