// Small file helpers of the node side: whole files in and out, errors with the path and the
// system's words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace krater::agent {

// "open /a/b: No such file or directory" from errno.
Error system_error(std::string_view what, std::string_view path, int error_number);
Result<std::string> read_file(const std::string& path);
// Into a temporary file beside it, then renamed: readers see the old or the new text. Mode 0644.
Result<void> replace_file(const std::string& path, std::string_view text);
// In place, for kernel files.
Result<void> write_file(const std::string& path, std::string_view text);
Result<void> make_directories(const std::string& path, unsigned mode = 0755);
// Everything below `path` and itself; stays on its filesystem (never goes into a mount). Absent is
// fine.
Result<void> remove_tree(const std::string& path);

// Waits for nothing: true when this process now holds `fd`'s lock, which ends with the process
// whatever becomes of its children. Otherwise `holder` is who does (0: gone meanwhile).
bool take_lock(int fd, int& holder);

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int out = fd_;
    fd_ = -1;
    return out;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

}  // namespace krater::agent
