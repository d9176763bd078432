#include "agent/node/usage_meter.h"

#include <algorithm>
#include <cstdlib>

#include "agent/node/machine_figures.h"
#include "base/json.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::int64_t kMille = 1000;
constexpr std::size_t kIdle = 3;   // user nice system idle …
constexpr std::size_t kModes = 8;  // … iowait irq softirq steal; what guests use is in user

std::int64_t part(std::int64_t some, std::int64_t all) {
  return all <= 0 ? 0 : std::clamp<std::int64_t>(some * kMille / all, 0, kMille);
}

}  // namespace

void UsageMeter::add(const UsageSample& sample, WallTime now) {
  // A clock that was set back, or counters that began anew: what was seen before means nothing.
  if (!samples_.empty() && (now < samples_.back().at || sample.all < samples_.back().sample.all))
    samples_.clear();
  samples_.push_back({now, sample});
  while (now - samples_.front().at > kWindow) samples_.pop_front();
}

std::optional<MachineUsage> UsageMeter::mean() const {
  if (samples_.empty() || samples_.back().at - samples_.front().at < kLeast) return std::nullopt;
  const UsageSample &first = samples_.front().sample, &last = samples_.back().sample;
  std::int64_t memory = 0;
  for (const Entry& one : samples_) memory += one.sample.memory;
  return MachineUsage{part(last.busy - first.busy, last.all - first.all),
                      memory / static_cast<std::int64_t>(samples_.size())};
}

std::optional<MachineUsage> UsageMeter::news(WallTime now) {
  const std::optional<MachineUsage> current = mean();
  if (!current) return std::nullopt;
  if (told_ && now >= told_at_) {
    const bool changed = std::abs(current->cpu - told_->cpu) >= kChange ||
                         std::abs(current->memory - told_->memory) >= kChange;
    if (now - told_at_ < (changed ? kPace : kAtLeast)) return std::nullopt;
  }
  told_ = current;
  told_at_ = now;
  return current;
}

std::optional<UsageSample> usage_sample(std::string_view stat, std::string_view meminfo) {
  const std::string_view line = stat.substr(0, stat.find('\n'));
  if (!line.starts_with("cpu ")) return std::nullopt;
  UsageSample out;
  std::int64_t idle = 0;
  std::size_t mode = 0;
  for (const std::string_view word : split(line.substr(4), ' ')) {
    if (word.empty() || mode == kModes) continue;
    const auto ticks = parse_int(word);
    if (!ticks) return std::nullopt;
    if (mode++ == kIdle) idle = *ticks;
    out.all += *ticks;
  }
  if (mode <= kIdle) return std::nullopt;
  out.busy = out.all - idle;
  const auto total = meminfo_line(meminfo, "MemTotal:"),
             available = meminfo_line(meminfo, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  out.memory = part(*total - *available, *total);
  return out;
}

std::string usage_text(const MachineUsage& usage, WallTime now) {
  std::string out;
  append_json(out, Json(JsonObject{
                       {"time", to_rfc3339(now)}, {"cpu", usage.cpu}, {"memory", usage.memory}}));
  return out;
}

}  // namespace krater::agent
