#include "agent/shim/log_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/logs/cri.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

// Kubernetes takes at most 2048 bytes or 80 lines of a log as the termination message.
constexpr std::size_t kTailBytes = 2048;
constexpr std::size_t kBufferBytes = 64 << 10;

// "3.log", "3.log.12" -> attempt 3 and rotation 0 or 12.
bool parse_name(std::string_view name, int& attempt, int& rotation) {
  const std::size_t mark = name.find(".log");
  if (mark == std::string_view::npos) return false;
  const auto first = parse_int(name.substr(0, mark));
  const std::string_view rest = name.substr(mark + 4);
  const auto second = rest.empty()          ? std::optional<std::int64_t>(0)
                      : rest.front() == '.' ? parse_int(rest.substr(1))
                                            : std::nullopt;
  if (!first || !second) return false;
  attempt = static_cast<int>(*first);
  rotation = static_cast<int>(*second);
  return true;
}

}  // namespace

LogWriter::LogWriter(std::string directory, int attempt, std::int64_t max_bytes, int max_files)
    : directory_(std::move(directory)),
      path_(directory_ + "/" + std::to_string(attempt) + ".log"),
      attempt_(attempt),
      max_bytes_(max_bytes),
      max_files_(max_files) {
  if (DIR* entries = ::opendir(directory_.c_str())) {
    while (const dirent* entry = ::readdir(entries)) {
      int old = 0, rotation = 0;
      if (parse_name(entry->d_name, old, rotation) && (old < attempt - 1 || old >= attempt)) {
        ::unlink((directory_ + "/" + entry->d_name).c_str());
      }
    }
    ::closedir(entries);
  }
  open();
}

void LogWriter::open() {
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  size_ = 0;
}

void LogWriter::append(Stream stream, std::string_view bytes, WallTime now) {
  std::string& partial = partial_[static_cast<int>(stream)];
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t room = kMaxRecordText - partial.size();
    if (newline != std::string_view::npos && newline <= room) {
      partial.append(bytes.substr(0, newline));
      line(stream, true, partial, now);
      partial.clear();
      bytes.remove_prefix(newline + 1);
    } else {
      const std::size_t taken = std::min(room, bytes.size());
      partial.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (partial.size() < kMaxRecordText) break;
      line(stream, false, partial, now);
      partial.clear();
    }
  }
  flush();
}

void LogWriter::finish(WallTime now) {
  for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
    std::string& partial = partial_[static_cast<int>(stream)];
    if (!partial.empty()) line(stream, false, partial, now);
    partial.clear();
  }
  flush();
}

void LogWriter::line(Stream stream, bool full, std::string_view text, WallTime now) {
  append_record(buffer_, now, stream == Stream::Stdout ? "stdout" : "stderr", full, text);
  tail_.append(text.substr(text.size() > kTailBytes ? text.size() - kTailBytes : 0));
  if (full) tail_ += '\n';
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  if (buffer_.size() >= kBufferBytes) flush();
}

// A full disk loses output rather than blocking the program.
void LogWriter::flush() {
  if (buffer_.empty()) return;
  if (size_ > 0 && size_ + static_cast<std::int64_t>(buffer_.size()) > max_bytes_) rotate();
  std::string_view rest = buffer_;
  while (!rest.empty() && file_) {
    const ssize_t n = ::write(file_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  size_ += static_cast<std::int64_t>(buffer_.size());
  buffer_.clear();
}

void LogWriter::rotate() {
  const int next = ++last_rotated_;
  ::rename(path_.c_str(), (path_ + "." + std::to_string(next)).c_str());
  // Files in all, the current one included.
  const int oldest = next - (max_files_ - 1);
  if (oldest > 0) ::unlink((path_ + "." + std::to_string(oldest)).c_str());
  open();
}

}  // namespace krater::agent
