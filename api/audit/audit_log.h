// The audit log's file: one JSON document a line, rotated by size, old files removed by number and
// age. write() never waits for the disk: lines queue in memory up to a bound, beyond which they are
// dropped and counted.
//
// Threads: write() and counts() from any; files are touched on the loop's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "api/audit/policy.h"
#include "base/env.h"
#include "base/result.h"

namespace krater::api::audit {

struct LogSettings {
  std::string path;       // "-": standard output, never rotated
  int max_size_mb = 100;  // rotated before it grows beyond; 0: never
  int max_backups = 0;    // rotated files kept; 0: all
  int max_age_days = 0;   // rotated files older than this are removed; 0: none
  std::size_t queue_lines = 10'000;
  std::size_t queue_bytes = 64U << 20;
};

struct LogCounts {
  std::uint64_t events = 0;                 // handed in
  std::uint64_t dropped = 0;                // because the queue was full
  std::uint64_t failed = 0;                 // because the disk refused
  std::array<std::uint64_t, 4> by_level{};  // of the events, by Level
};

class AuditLog : public std::enable_shared_from_this<AuditLog> {
 public:
  // Code::Unavailable when the file cannot be opened. `clock` and `loop` outlive the log.
  static Result<std::shared_ptr<AuditLog>> open(LogSettings settings, Loop& loop,
                                                const WallClock& clock);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // `line` without its newline.
  void write(Level level, std::string line);
  LogCounts counts() const;
  // On the loop's thread: everything handed in so far is in the file when this returns.
  void flush();

 private:
  AuditLog(LogSettings settings, Loop& loop, const WallClock& clock)
      : settings_(std::move(settings)), loop_(loop), clock_(clock) {}
  Result<void> open_file();
  void append(const std::string& line);
  void rotate();
  void remove_old() const;
  void failed(const char* doing, const std::string& why);

  const LogSettings settings_;
  Loop& loop_;
  const WallClock& clock_;
  // The loop's.
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool failing_ = false;
  // Any thread's.
  mutable std::mutex mutex_;
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  bool posted_ = false;
  LogCounts counts_;
};

}  // namespace krater::api::audit
