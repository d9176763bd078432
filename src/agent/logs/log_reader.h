// Reads the log of one run of a container as `kubectl logs` shows it: <attempt>.log and its rotated
// predecessors <attempt>.log.<n> (n rising with age's end: higher is newer) in CRI format. Follows
// over rotation: an open file is read to its end before the next one is opened. Reads what is there
// and never waits. One loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater::agent {

struct LogOptions {
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines{};  // 0: nothing old
  std::optional<WallTime> since{};
  std::optional<std::int64_t> limit_bytes{};
};

class LogReader {
 public:
  LogReader(std::string directory, int attempt, LogOptions options);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Up to about `max_bytes` of text (a record is never cut, except by limit_bytes). Empty: at the
  // end for now. Code::Internal when a file cannot be read.
  Result<std::string> read(std::size_t max_bytes);
  // limit_bytes has been given out: nothing more will come.
  bool exhausted() const { return exhausted_; }

 private:
  struct File {
    std::string path;
    std::uint64_t inode = 0;
  };
  std::vector<File> files() const;  // oldest first, the current one last
  Result<void> seek_tail();
  bool open_next();
  bool fill();
  void take_line(std::string_view line, std::string& out);

  std::string directory_;
  int attempt_;
  LogOptions options_;
  std::string since_text_;
  bool started_ = false, exhausted_ = false;
  int fd_ = -1;
  std::uint64_t inode_ = 0;
  std::int64_t given_ = 0;
  std::string pending_;  // read, not yet a whole line
};

// Numbers of the runs that have a log in the directory, rising.
std::vector<int> logged_attempts(const std::string& directory);

}  // namespace krater::agent
