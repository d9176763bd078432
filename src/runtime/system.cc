#include "runtime/system.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>

#include "base/check.h"
#include "runtime/asio_loop.h"

namespace krater::runtime {

WallTime SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return WallTime(std::chrono::duration_cast<Duration>(since_epoch).count());
}

std::uint64_t SystemRng::next() {
  std::uint64_t out = 0;
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(&out), sizeof out) == 1);
  return out;
}

struct StopSignals::State : std::enable_shared_from_this<State> {
  State(AsioLoop& loop, std::function<void(int)> handler)
      : signals(loop.context(), SIGTERM, SIGINT), on_stop(std::move(handler)) {}
  void wait() {
    signals.async_wait(
        [self = shared_from_this()](const boost::system::error_code& problem, int signal) {
          if (problem) return;
          self->wait();
          self->on_stop(signal);
        });
  }
  boost::asio::signal_set signals;
  std::function<void(int)> on_stop;
};

StopSignals::StopSignals(AsioLoop& loop, std::function<void(int signal)> on_stop)
    : state_(std::make_shared<State>(loop, std::move(on_stop))) {
  std::signal(SIGPIPE, SIG_IGN);
  state_->wait();
}

StopSignals::~StopSignals() {
  state_->signals.cancel();
}

std::string host_name() {
  char buffer[256] = {};
  return ::gethostname(buffer, sizeof buffer - 1) == 0 ? buffer : "localhost";
}

std::string primary_address() {
  std::string out = "127.0.0.1";
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text,
                sizeof text);
    out = text;
    break;
  }
  ::freeifaddrs(all);
  return out;
}

std::vector<std::string> own_names() {
  std::vector<std::string> out{host_name()};
  const std::string address = primary_address();
  if (address != "127.0.0.1") out.push_back(address);
  return out;
}

}  // namespace krater::runtime
