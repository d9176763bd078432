// process_* as every Prometheus client tells them, read from /proc at each scrape.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "api/server/metrics.h"

namespace krater::api {
namespace {

enum class Memory { Virtual, Resident };

double memory_bytes(Memory which) {
  std::ifstream in("/proc/self/statm");
  double total = 0;
  double resident = 0;
  in >> total >> resident;
  return (which == Memory::Virtual ? total : resident) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code problem;
  const std::filesystem::directory_iterator files("/proc/self/fd", problem);
  return problem ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}

double most_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

// Seconds since the epoch: the machine's start plus what /proc says, in ticks.
double start_seconds() {
  std::ifstream boot("/proc/stat");
  double booted = 0;
  for (std::string word; boot >> word;) {
    if (word == "btime") {
      boot >> booted;
      break;
    }
  }
  std::ifstream own("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(own)), {});
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int kStartTime = 20;  // counted from the state, which comes first after the name
  std::string field;
  for (int i = 0; i < kStartTime; ++i) fields >> field;
  return booted + std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

void add_process_metrics(Metrics& metrics) {
  metrics.add_gauge("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
                    [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; });
  metrics.add_gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
                    [] { return memory_bytes(Memory::Resident); });
  metrics.add_gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.",
                    [] { return memory_bytes(Memory::Virtual); });
  metrics.add_gauge("process_open_fds", "Number of open file descriptors.", open_files);
  metrics.add_gauge("process_max_fds", "Maximum number of open file descriptors.", most_files);
  metrics.add_gauge("process_start_time_seconds",
                    "Start time of the process since unix epoch in seconds.",
                    [started = start_seconds()] { return started; });
}

}  // namespace krater::api
