// Writes the output of one run of a container to DIR/<attempt>.log in CRI format, and starts a new
// file when it is full: the old one becomes <attempt>.log.<n> with n rising, the oldest beyond the
// limit is removed. In the shim.
#pragma once

#include <string>
#include <string_view>

#include "agent/shim/files.h"
#include "base/time.h"

namespace krater::agent {

class LogWriter {
 public:
  // The directory exists. Older attempts than the one before are removed from it.
  LogWriter(std::string directory, int attempt, std::int64_t max_bytes, int max_files);

  enum class Stream { Stdout, Stderr };
  void append(Stream stream, std::string_view bytes, WallTime now);
  // What was not ended by a newline, at the end of the run.
  void finish(WallTime now);
  // The last bytes written, for terminationMessagePolicy: FallbackToLogsOnError.
  const std::string& tail() const { return tail_; }

 private:
  void line(Stream stream, bool full, std::string_view text, WallTime now);
  void flush();
  void rotate();
  void open();

  std::string directory_, path_;
  int attempt_;
  std::int64_t max_bytes_, size_ = 0;
  int max_files_, last_rotated_ = 0;
  Fd file_;
  std::string partial_[2];
  std::string buffer_, tail_;
};

}  // namespace krater::agent
