#include "runtime/system.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <openssl/rand.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/check.h"

namespace krater::runtime {

WallTime SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return WallTime(std::chrono::duration_cast<Duration>(since_epoch).count());
}

std::uint64_t SystemRng::next() {
  // A call costs as much for one number as for many.
  const std::lock_guard lock(mutex_);
  if (left_ == 0) {
    CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(drawn_.data()), sizeof drawn_) == 1);
    left_ = drawn_.size();
  }
  return std::exchange(drawn_[--left_], 0);
}

std::size_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  rlimit wanted = limit;
  wanted.rlim_cur = wanted.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &wanted) == 0 ? wanted.rlim_cur : limit.rlim_cur;
}

void yield_to_others() {
  constexpr int kNicer = 5;
  ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kNicer);  // 0: this thread
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
