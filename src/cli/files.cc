#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace krater::cli {
namespace {

Error failed(const std::string& what, const std::string& path) {
  const Code code = errno == ENOENT ? Code::NotFound : Code::Internal;
  return make_error(code, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return failed("read", path);
  std::string out;
  char buffer[16384];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
    out.append(buffer, got);
  const bool bad = std::ferror(file) != 0;
  std::fclose(file);
  if (bad) return failed("read", path);
  return out;
}

Result<void> write_file(const std::string& path, const std::string& text, unsigned mode) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return failed("write", temporary);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<std::size_t>(written);
  }
  const bool synced = done == text.size() && ::fchmod(file, mode) == 0 && ::fsync(file) == 0;
  const int problem = errno;
  ::close(file);
  errno = problem;
  if (!synced) return failed("write", temporary);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("replace", path);
  return {};
}

Result<void> make_directory(const std::string& path, unsigned mode) {
  std::error_code problem;
  const bool made = std::filesystem::create_directories(path, problem);
  if (problem)
    return make_error(Code::Internal, "cannot make directory " + path + ": " + problem.message());
  if (made && ::chmod(path.c_str(), mode) != 0) return failed("set the mode of", path);
  return {};
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace krater::cli
