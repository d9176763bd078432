// How busy a machine has been: the mean of the last ten minutes, as Volcano's plugin usage asks
// Prometheus for it, and when it is worth telling. Pure: samples and time are passed in.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace krater::agent {

// Processor time since the machine was started, of all processors, in ticks of whatever length, and
// what of the memory is in use now.
struct UsageSample {
  std::int64_t busy = 0, all = 0;
  std::int64_t memory = 0;  // per mille of the machine's
};

// Per mille of the machine.
struct MachineUsage {
  std::int64_t cpu = 0, memory = 0;
  friend bool operator==(const MachineUsage&, const MachineUsage&) = default;
};

class UsageMeter {
 public:
  static constexpr Duration kWindow = std::chrono::minutes(10);
  static constexpr Duration kPace = std::chrono::seconds(30);    // no more often than that
  static constexpr Duration kAtLeast = std::chrono::minutes(2);  // as often, changed or not
  static constexpr Duration kLeast = std::chrono::seconds(5);  // to look for before the first word
  static constexpr std::int64_t kChange = 10;  // per mille; less is not worth telling

  void add(const UsageSample& sample, WallTime now);
  // nullopt: it has not been looked for long enough.
  std::optional<MachineUsage> mean() const;
  // What is to be told now, if anything; it counts as told.
  std::optional<MachineUsage> news(WallTime now);

 private:
  struct Entry {
    WallTime at;
    UsageSample sample;
  };
  std::deque<Entry> samples_;
  std::optional<MachineUsage> told_;
  WallTime told_at_{};
};

// From the texts of /proc/stat and /proc/meminfo. As Prometheus' node exporter has it, all
// processor time that is not idle is busy, and memory that could be had is not in use.
std::optional<UsageSample> usage_sample(std::string_view stat, std::string_view meminfo);
// The value of the node's annotation krater.io/node-usage.
std::string usage_text(const MachineUsage& usage, WallTime now);

}  // namespace krater::agent
