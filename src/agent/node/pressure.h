// Whether a node is short of memory, disk or process ids: figures against thresholds, with a pause
// before a shortage counts as over. Mirrors the conditions of a kubelet's eviction manager. Pure:
// time is passed in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater::agent {

// What can be short, by the names of a kubelet's --eviction-hard.
enum class Signal {
  Memory,  // "memory.available", bytes
  Disk,    // "nodefs.available", bytes
  Inodes,  // "nodefs.inodesFree"
  Pids,    // "pid.available"
};
inline constexpr std::size_t kSignals = 4;

struct Figure {
  std::int64_t available = 0, capacity = 0;
};
// By Signal; what cannot be read is absent, and is no shortage.
using Figures = std::array<std::optional<Figure>, kSignals>;

struct Threshold {
  Signal signal = Signal::Memory;
  std::int64_t amount = 0;         // bytes or a count
  std::int64_t milli_percent = 0;  // or, when amount is 0, of the capacity

  // Less than this is a shortage.
  std::int64_t of(std::int64_t capacity) const;
};

inline constexpr std::string_view kDefaultThresholds =
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,pid.available<1%";
// "memory.available<100Mi,nodefs.available<10%"; empty: no thresholds. Code::BadRequest names what
// cannot be read.
Result<std::vector<Threshold>> parse_thresholds(std::string_view text);

// The node's conditions.
struct Pressures {
  bool memory = false, disk = false, pids = false;
  friend bool operator==(const Pressures&, const Pressures&) = default;
};

class PressureMachine {
 public:
  // A shortage counts until nothing has been short for this long: a kubelet's
  // --eviction-pressure-transition-period.
  static constexpr Duration kTransition = std::chrono::minutes(5);

  explicit PressureMachine(std::vector<Threshold> thresholds)
      : thresholds_(std::move(thresholds)) {}

  Pressures observe(const Figures& figures, WallTime now);

 private:
  std::vector<Threshold> thresholds_;
  std::array<std::optional<WallTime>, kSignals> last_short_;
};

}  // namespace krater::agent
