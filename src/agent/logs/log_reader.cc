#include "agent/logs/log_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "agent/logs/cri.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::size_t kBlock = 64 << 10;

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> out;
  DIR* dir = ::opendir(directory.c_str());
  if (dir == nullptr) return out;
  while (const dirent* entry = ::readdir(dir)) out.emplace_back(entry->d_name);
  ::closedir(dir);
  return out;
}

std::uint64_t inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

// Offset of the last `lines` lines of the file, or how many it has when those are fewer.
struct TailPlace {
  off_t offset = 0;
  std::int64_t lines = 0;
};

TailPlace tail_of(int fd, std::int64_t wanted) {
  struct stat info {};
  TailPlace out;
  if (::fstat(fd, &info) != 0) return out;
  off_t end = info.st_size;
  std::string block(kBlock, '\0');
  bool last = true;  // the final newline ends a line, it does not begin one
  while (end > 0) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(kBlock));
    const ssize_t got = ::pread(fd, block.data(), static_cast<std::size_t>(end - begin), begin);
    if (got <= 0) return out;
    for (ssize_t i = got - 1; i >= 0; --i) {
      if (block[static_cast<std::size_t>(i)] != '\n') continue;
      if (!std::exchange(last, false) && ++out.lines == wanted) {
        out.offset = begin + i + 1;
        return out;
      }
    }
    end = begin;
  }
  if (info.st_size > 0) ++out.lines;  // the first line has no newline before it
  return out;
}

}  // namespace

std::vector<int> logged_attempts(const std::string& directory) {
  std::set<int> out;
  for (const std::string& name : names_in(directory)) {
    const std::size_t end = name.find(".log");
    if (end == std::string::npos) continue;
    if (const auto number = parse_int(name.substr(0, end)); number && *number >= 0)
      out.insert(static_cast<int>(*number));
  }
  return {out.begin(), out.end()};
}

LogReader::LogReader(std::string directory, int attempt, LogOptions options)
    : directory_(std::move(directory)), attempt_(attempt), options_(options) {
  if (options_.since) since_text_ = to_rfc3339_nano(*options_.since);
}

LogReader::~LogReader() {
  if (fd_ >= 0) ::close(fd_);
}

std::vector<LogReader::File> LogReader::files() const {
  const std::string current = std::to_string(attempt_) + ".log";
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const std::string& name : names_in(directory_)) {
    if (name == current) found.emplace_back(INT64_MAX, name);
    if (!name.starts_with(current + ".")) continue;
    if (const auto number = parse_int(name.substr(current.size() + 1)))
      found.emplace_back(*number, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<File> out;
  for (const auto& [order, name] : found) {
    const std::string path = directory_ + "/" + name;
    if (const std::uint64_t inode = inode_of(path); inode != 0) out.push_back({path, inode});
  }
  return out;
}

// Opens the oldest file that is needed, at the place where the wanted lines begin.
Result<void> LogReader::seek_tail() {
  const std::vector<File> all = files();
  if (all.empty()) return {};
  std::size_t first = 0;
  off_t offset = 0;
  if (options_.tail_lines) {
    std::int64_t missing = *options_.tail_lines;
    first = all.size();
    while (first > 0 && (missing > 0 || first == all.size())) {
      --first;
      const int fd = ::open(all[first].path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) break;
      const TailPlace place = tail_of(fd, missing);
      offset = missing == 0 ? ::lseek(fd, 0, SEEK_END) : place.offset;
      ::close(fd);
      missing -= place.lines;
      if (missing <= 0) break;
      offset = 0;
    }
  }
  fd_ = ::open(all[first].path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0)
    return make_error(Code::Internal,
                      "cannot read " + all[first].path + ": " + std::strerror(errno));
  inode_ = all[first].inode;
  ::lseek(fd_, offset, SEEK_SET);
  return {};
}

// The file after the one that has been read to its end; false when that is the newest.
bool LogReader::open_next() {
  const std::vector<File> all = files();
  const auto mine = std::find_if(all.begin(), all.end(),
                                 [this](const File& file) { return file.inode == inode_; });
  // Ours has been removed as the oldest: go on with the oldest that is left.
  const auto next = mine == all.end() ? all.begin() : mine + 1;
  if (next == all.end()) return false;
  const int fd = ::open(next->path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  inode_ = next->inode;
  return true;
}

bool LogReader::fill() {
  char block[kBlock];
  for (int turn = 0; turn < 2; ++turn) {
    const ssize_t got = fd_ >= 0 ? ::read(fd_, block, sizeof block) : 0;
    if (got > 0) {
      pending_.append(block, static_cast<std::size_t>(got));
      return true;
    }
    // A rotation between our read and this look may have left a rest behind: read once more before
    // moving on.
    if (turn == 0 && fd_ >= 0) {
      const std::vector<File> all = files();
      if (!all.empty() && all.back().inode == inode_) return false;
      continue;
    }
    if (!open_next()) return false;
    turn = -1;
  }
  return false;
}

void LogReader::take_line(std::string_view line, std::string& out) {
  const std::optional<LogRecord> record = parse_record(line);
  if (!record || (!since_text_.empty() && record->time < since_text_)) return;
  std::string text;
  if (options_.timestamps) text.append(record->time).append(" ");
  text.append(record->text);
  if (record->full) text += '\n';
  if (options_.limit_bytes) {
    const std::int64_t left = *options_.limit_bytes - given_;
    if (static_cast<std::int64_t>(text.size()) >= left) {
      text.resize(static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
      exhausted_ = true;
    }
  }
  given_ += static_cast<std::int64_t>(text.size());
  out += text;
}

Result<std::string> LogReader::read(std::size_t max_bytes) {
  std::string out;
  if (!started_) {
    TRY(seek_tail());
    started_ = fd_ >= 0;
    if (!started_) return out;
  }
  while (out.size() < max_bytes && !exhausted_) {
    const std::size_t end = pending_.find('\n');
    if (end == std::string::npos) {
      if (!fill()) break;
      continue;
    }
    take_line(std::string_view(pending_).substr(0, end), out);
    pending_.erase(0, end + 1);
  }
  return out;
}

}  // namespace krater::agent
