#include "agent/node/machine_figures.h"

#include <sys/statvfs.h>

#include <algorithm>

#include "agent/shim/files.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

std::string text_of(const char* path) {
  return read_file(path).value_or(std::string());
}

}  // namespace

std::optional<std::int64_t> meminfo_line(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    std::string_view value = trim(line.substr(name.size()));
    if (value.ends_with(" kB")) value.remove_suffix(3);
    const auto number = parse_int(trim(value));
    return number ? std::optional(*number * 1024) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Figure> memory_figure(std::string_view meminfo) {
  const auto total = meminfo_line(meminfo, "MemTotal:"), free = meminfo_line(meminfo, "MemFree:"),
             idle = meminfo_line(meminfo, "Inactive(file):");
  if (!total || !free || !idle) return std::nullopt;
  return Figure{*free + *idle, *total};
}

std::optional<Figure> pid_figure(std::string_view loadavg, std::string_view pid_max,
                                 std::string_view threads_max) {
  const std::vector<std::string_view> words = split(trim(loadavg), ' ');
  if (words.size() < 4) return std::nullopt;
  // "running/all", threads counted as the limits count them.
  const std::size_t slash = words[3].find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto all = parse_int(words[3].substr(slash + 1));
  const auto ids = parse_int(trim(pid_max)), threads = parse_int(trim(threads_max));
  if (!all || !ids) return std::nullopt;
  const std::int64_t capacity = std::min(*ids, threads.value_or(*ids));
  return Figure{std::max<std::int64_t>(capacity - *all, 0), capacity};
}

std::optional<UsageSample> MachineFigures::usage() {
  return usage_sample(text_of("/proc/stat"), text_of("/proc/meminfo"));
}

Figures MachineFigures::read() {
  Figures out;
  const auto at = [&](Signal signal) -> std::optional<Figure>& {
    return out[static_cast<std::size_t>(signal)];
  };
  at(Signal::Memory) = memory_figure(text_of("/proc/meminfo"));
  at(Signal::Pids) = pid_figure(text_of("/proc/loadavg"), text_of("/proc/sys/kernel/pid_max"),
                                text_of("/proc/sys/kernel/threads-max"));
  struct statvfs disk {};
  if (::statvfs(directory_.c_str(), &disk) == 0) {
    const auto bytes = [&](fsblkcnt_t blocks) {
      return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(disk.f_frsize);
    };
    at(Signal::Disk) = Figure{bytes(disk.f_bavail), bytes(disk.f_blocks)};
    // Some filesystems make inodes as they are needed and tell of none.
    if (disk.f_files > 0) {
      at(Signal::Inodes) =
          Figure{static_cast<std::int64_t>(disk.f_favail), static_cast<std::int64_t>(disk.f_files)};
    }
  }
  return out;
}

}  // namespace krater::agent
