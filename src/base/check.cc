#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/last_words.h"
#include "base/log.h"

namespace krater {
namespace {
std::atomic<std::uint64_t> failures{0};
}

void check_failed(const char* file, int line, const char* expression, std::string_view detail) {
  std::string words =
      std::string(file) + ":" + std::to_string(line) + ": CHECK failed: " + expression;
  if (!detail.empty()) words += " " + std::string(detail);
  std::fprintf(stderr, "%s\n", words.c_str());
  std::fflush(stderr);
  set_last_words(words);
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
