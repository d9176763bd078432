#include "agent/shim/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace krater::agent {
namespace {

Result<void> write_all(int fd, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> remove_below(int parent, const char* name, const std::string& path, dev_t device) {
  struct stat info {};
  if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return system_error("stat", path, errno);
  }
  if (S_ISDIR(info.st_mode) && info.st_dev == device) {
    const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return system_error("open", path, errno);
    DIR* directory = ::fdopendir(fd);
    while (const dirent* entry = ::readdir(directory)) {
      const std::string_view child = entry->d_name;
      if (child == "." || child == "..") continue;
      Result<void> removed = remove_below(fd, entry->d_name, path + "/" + entry->d_name, device);
      if (!removed) {
        ::closedir(directory);
        return removed;
      }
    }
    ::closedir(directory);
  }
  if (::unlinkat(parent, name, S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) {
    return system_error("remove", path, errno);
  }
  return {};
}

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Error system_error(std::string_view what, std::string_view path, int error_number) {
  return make_error(
      error_number == ENOENT ? Code::NotFound : Code::Internal,
      std::string(what) + " " + std::string(path) + ": " + std::strerror(error_number));
}

Result<std::string> read_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("open", path, errno);
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read", path, errno);
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  {
    const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd) return system_error("open", temporary, errno);
    TRY(write_all(fd.get(), temporary, text));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error("rename", path, errno);
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return system_error("open", path, errno);
  return write_all(fd.get(), path, text);
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string prefix = path.substr(0, at);
    if (::mkdir(prefix.c_str(), mode) != 0 && errno != EEXIST)
      return system_error("mkdir", prefix, errno);
    if (at != std::string::npos) ++at;
  }
  return {};
}

Result<void> remove_tree(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return system_error("stat", path, errno);
  }
  return remove_below(AT_FDCWD, path.c_str(), path, info.st_dev);
}

bool take_lock(int fd, int& holder) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd, F_SETLK, &lock) == 0) return true;
  const bool asked = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  holder = asked ? lock.l_pid : 0;
  return false;
}

}  // namespace krater::agent
