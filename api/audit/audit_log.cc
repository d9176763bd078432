#include "api/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/log.h"

namespace krater::api::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 256;  // lines taken from the queue in one turn

// "audit-2026-11-29T12-00-00.000.log" stands beside "audit.log".
fs::path rotated_name(const fs::path& path, WallTime now) {
  std::string stamp = to_rfc3339_micro(now);  // 2026-11-29T12:00:00.000000Z
  stamp.resize(std::min<std::size_t>(stamp.size(), 23));
  std::replace(stamp.begin(), stamp.end(), ':', '-');
  return path.parent_path() / (path.stem().string() + "-" + stamp + path.extension().string());
}

bool is_rotated(const fs::path& path, const fs::path& candidate) {
  const std::string name = candidate.filename().string();
  const std::string prefix = path.stem().string() + "-";
  const std::string suffix = path.extension().string();
  constexpr std::size_t kStamp = 23;
  return name.size() == prefix.size() + kStamp + suffix.size() && name.starts_with(prefix) &&
         name.ends_with(suffix) && name[prefix.size() + 10] == 'T';
}

WallTime time_of(const fs::path& path, const fs::path& rotated) {
  std::string stamp = rotated.filename().string().substr(path.stem().string().size() + 1, 23);
  stamp[13] = stamp[16] = ':';
  return parse_rfc3339(stamp + "Z").value_or(WallTime());
}

}  // namespace

Result<std::shared_ptr<AuditLog>> AuditLog::open(LogSettings settings, Loop& loop,
                                                 const WallClock& clock) {
  std::shared_ptr<AuditLog> log(new AuditLog(std::move(settings), loop, clock));
  TRY(log->open_file());
  return log;
}

AuditLog::~AuditLog() {
  if (file_ > STDERR_FILENO) ::close(file_);
}

Result<void> AuditLog::open_file() {
  if (settings_.path == "-") {
    file_ = STDOUT_FILENO;
    return {};
  }
  // Who may read it may read what it tells: for its owner alone.
  file_ = ::open(settings_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  struct stat info {};
  if (file_ < 0 || ::fstat(file_, &info) != 0)
    return make_error(Code::Unavailable,
                      "cannot open the audit log " + settings_.path + ": " + std::strerror(errno));
  size_ = static_cast<std::uint64_t>(info.st_size);
  return {};
}

void AuditLog::write(Level level, std::string line) {
  line += '\n';
  {
    const std::lock_guard lock(mutex_);
    ++counts_.events;
    ++counts_.by_level[static_cast<std::size_t>(level)];
    if (queue_.size() >= settings_.queue_lines ||
        queued_bytes_ + line.size() > settings_.queue_bytes) {
      ++counts_.dropped;
      return;
    }
    queued_bytes_ += line.size();
    queue_.push_back(std::move(line));
    if (std::exchange(posted_, true)) return;
  }
  loop_.post([self = shared_from_this()] { self->flush(); });
}

LogCounts AuditLog::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void AuditLog::flush() {
  for (;;) {
    std::vector<std::string> lines;
    {
      const std::lock_guard lock(mutex_);
      posted_ = !queue_.empty();
      if (!posted_) return;
      while (!queue_.empty() && lines.size() < kAtOnce) {
        queued_bytes_ -= queue_.front().size();
        lines.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    for (const std::string& line : lines) append(line);
  }
}

void AuditLog::append(const std::string& line) {
  const std::uint64_t limit = static_cast<std::uint64_t>(settings_.max_size_mb) << 20;
  if (limit > 0 && size_ > 0 && size_ + line.size() > limit && settings_.path != "-") rotate();
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("writing", std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(n));
    size_ += static_cast<std::uint64_t>(n);
  }
  failing_ = false;
}

void AuditLog::rotate() {
  const fs::path path(settings_.path);
  fs::path target = rotated_name(path, clock_.now());
  // Two rotations within a millisecond: the later moves on.
  for (int i = 1; fs::exists(target) && i < 1000; ++i)
    target = rotated_name(path, clock_.now() + std::chrono::milliseconds(i));
  std::error_code problem;
  fs::rename(path, target, problem);
  if (problem) return failed("rotating", problem.message());
  if (file_ > STDERR_FILENO) ::close(file_);
  size_ = 0;
  if (const Result<void> opened = open_file(); !opened)
    return failed("reopening", opened.error().message);
  remove_old();
}

void AuditLog::remove_old() const {
  const fs::path path(settings_.path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> rotated;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    if (is_rotated(path, entry.path())) rotated.push_back(entry.path());
  }
  std::sort(rotated.rbegin(), rotated.rend());  // the newest first
  const WallTime oldest = clock_.now() - std::chrono::hours(24) * settings_.max_age_days;
  for (std::size_t i = 0; i < rotated.size(); ++i) {
    const bool too_many =
        settings_.max_backups > 0 && i >= static_cast<std::size_t>(settings_.max_backups);
    const bool too_old = settings_.max_age_days > 0 && time_of(path, rotated[i]) < oldest;
    if (too_many || too_old) fs::remove(rotated[i], problem);
  }
}

void AuditLog::failed(const char* doing, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.failed;
  }
  if (std::exchange(failing_, true)) return;  // once until it goes well again
  log::error("audit.log", {{"doing", doing}, {"path", settings_.path}, {"error", why}});
}

}  // namespace krater::api::audit
