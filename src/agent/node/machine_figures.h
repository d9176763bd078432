// What this machine has left, read from the kernel. Reading takes microseconds; on the agent's
// loop.
#pragma once

#include <string>
#include <string_view>

#include "agent/node/pressure.h"
#include "agent/node/usage_meter.h"

namespace krater::agent {

class FigureSource {
 public:
  virtual ~FigureSource() = default;
  virtual Figures read() = 0;
  // nullopt: it cannot be told.
  virtual std::optional<UsageSample> usage() { return std::nullopt; }
};

class MachineFigures final : public FigureSource {
 public:
  // `directory`: where pods write, on the filesystem that is looked at.
  explicit MachineFigures(std::string directory) : directory_(std::move(directory)) {}
  Figures read() override;
  std::optional<UsageSample> usage() override;

 private:
  std::string directory_;
};

// Of a line such as "MemFree:   13808 kB": bytes.
std::optional<std::int64_t> meminfo_line(std::string_view text, std::string_view name);
// From the text of /proc/meminfo. Available as a kubelet counts it: what is free, and file pages
// not used lately.
std::optional<Figure> memory_figure(std::string_view meminfo);
// From /proc/loadavg, /proc/sys/kernel/pid_max and /proc/sys/kernel/threads-max.
std::optional<Figure> pid_figure(std::string_view loadavg, std::string_view pid_max,
                                 std::string_view threads_max);

}  // namespace krater::agent
