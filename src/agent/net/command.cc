#include "agent/net/command.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

extern char** environ;

namespace krater::agent {
namespace {

constexpr std::size_t kOutputBytesMax = 64 << 10;

// Owns one file descriptor.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::shared_ptr<Fd> memory_file(const std::string& content) {
  auto out = std::make_shared<Fd>(::memfd_create("krater-command", MFD_CLOEXEC));
  std::size_t done = 0;
  while (out->get() >= 0 && done < content.size()) {
    const ssize_t written = ::write(out->get(), content.data() + done, content.size() - done);
    if (written <= 0) return nullptr;
    done += static_cast<std::size_t>(written);
  }
  if (out->get() < 0 || ::lseek(out->get(), 0, SEEK_SET) != 0) return nullptr;
  return out;
}

std::string read_back(int fd) {
  std::string out(kOutputBytesMax, '\0');
  const ssize_t got = ::pread(fd, out.data(), out.size(), 0);
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

Result<pid_t> spawn(const std::vector<std::string>& argv, int input, int output) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  pid_t child = 0;
  const int problem =
      ::posix_spawnp(&child, argv[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem == ENOENT) return make_error(Code::NotFound, argv[0] + " is not installed");
  if (problem != 0)
    return make_error(Code::Internal, "cannot run " + argv[0] + ": " + std::strerror(problem));
  return child;
}

CommandOutcome reap(pid_t child, int output) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  CommandOutcome out;
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  out.output = read_back(output);
  return out;
}

}  // namespace

void run_command(boost::asio::io_context& io, const std::vector<std::string>& argv,
                 const std::string& input, std::function<void(Result<CommandOutcome>)> done) {
  const auto fail = [&](Error error) {
    boost::asio::post(io, [done, error = std::move(error)] { done(error); });
  };
  const std::shared_ptr<Fd> given = memory_file(input), said = memory_file({});
  if (!given || !said)
    return fail(make_error(Code::Internal, std::string("no memory file: ") + std::strerror(errno)));
  const Result<pid_t> child = spawn(argv, given->get(), said->get());
  if (!child) return fail(child.error());
  // A pidfd becomes readable when the process has ended.
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, *child, 0));
  if (pidfd < 0) {
    boost::asio::post(io, [done, child = *child, said] { done(reap(child, said->get())); });
    return;
  }
  auto ended = std::make_shared<boost::asio::posix::stream_descriptor>(io, pidfd);
  ended->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [ended, child = *child, said, done = std::move(done)](
                        const boost::system::error_code&) { done(reap(child, said->get())); });
}

}  // namespace krater::agent
