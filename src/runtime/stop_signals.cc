// The handler writes what it was told into a pipe, the loop reads it.
#include "runtime/stop_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <cerrno>
#include <fstream>

#include "base/check.h"
#include "base/log.h"
#include "runtime/asio_loop.h"

namespace krater::runtime {
namespace {

namespace asio = boost::asio;

struct Request {
  int signal = 0;
  pid_t sender = 0;  // 0: the kernel
};

constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};
std::atomic<int> pipe_end{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal, siginfo_t* info, void*) {
  const int errno_before = errno;
  const Request request{signal, info->si_code <= 0 ? info->si_pid : 0};
  // Shorter than what a pipe takes at once. A full pipe holds requests enough.
  [[maybe_unused]] const ssize_t told = ::write(pipe_end.load(), &request, sizeof request);
  errno = errno_before;
}

std::string name_of(int signal) {
  return signal == SIGTERM ? "SIGTERM" : signal == SIGINT ? "SIGINT" : "SIGHUP";
}

// Best effort: it may have gone meanwhile.
std::string command_of(pid_t process) {
  if (process == 0) return "kernel";
  std::string out;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), out);
  return out.empty() ? "gone" : out;
}

}  // namespace

struct StopSignals::State : std::enable_shared_from_this<State> {
  State(AsioLoop& loop, int read_end, std::function<void()> handler)
      : pipe(loop.context(), read_end), on_stop(std::move(handler)) {}
  void wait() {
    asio::async_read(
        pipe, asio::buffer(&request, sizeof request),
        [self = shared_from_this()](const boost::system::error_code& problem, std::size_t) {
          if (problem) return;
          log::info("stop.requested", {{"signal", name_of(self->request.signal)},
                                       {"sender_pid", self->request.sender},
                                       {"sender", command_of(self->request.sender)}});
          self->wait();
          self->on_stop();
        });
  }
  asio::posix::stream_descriptor pipe;
  std::function<void()> on_stop;
  Request request;
};

StopSignals::StopSignals(AsioLoop& loop, std::function<void()> on_stop) {
  std::array<int, 2> ends{};
  CHECK(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  state_ = std::make_shared<State>(loop, ends[0], std::move(on_stop));
  CHECK_MSG(pipe_end.exchange(ends[1]) == -1, "one StopSignals at a time");
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  for (const int signal : kSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  state_->wait();
}

StopSignals::~StopSignals() {
  for (const int signal : kSignals) ::signal(signal, SIG_IGN);
  ::close(pipe_end.exchange(-1));
  state_->pipe.close();
}

}  // namespace krater::runtime
