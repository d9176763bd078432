#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "base/log_count.h"

namespace krater::log {
namespace {

std::atomic<std::uint64_t> errors{0};

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("krater",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
    return made;
  }();
  return instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warn:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of(" \t\n\"=") != std::string_view::npos;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void configure(Level threshold, const std::string& file) {
  if (!file.empty()) {
    auto made = std::make_shared<spdlog::logger>(
        "krater", std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
    logger() = std::move(made);
  }
  logger()->set_level(to_spdlog(threshold));
  logger()->flush_on(spdlog::level::info);
}

bool enabled(Level level) {
  return logger()->should_log(to_spdlog(level));
}

std::uint64_t errors_written() {
  return errors.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view event, Fields fields) {
  if (level == Level::Error) errors.fetch_add(1, std::memory_order_relaxed);
  if (!enabled(level)) return;
  std::string line(event);
  for (const Field& field : fields) {
    line += ' ';
    line += field.name;
    line += '=';
    if (needs_quotes(field.value)) {
      append_quoted(line, field.value);
    } else {
      line += field.value;
    }
  }
  logger()->log(to_spdlog(level), "{}", line);
}

}  // namespace krater::log
