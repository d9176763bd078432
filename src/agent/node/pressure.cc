#include "agent/node/pressure.h"

#include "base/quantity.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

struct SignalName {
  std::string_view text;
  Signal signal;
};
constexpr std::array<SignalName, kSignals> kNames{{{"memory.available", Signal::Memory},
                                                   {"nodefs.available", Signal::Disk},
                                                   {"nodefs.inodesFree", Signal::Inodes},
                                                   {"pid.available", Signal::Pids}}};

constexpr std::int64_t kWhole = 100'000;  // 100 % in thousandths of a per cent

Error unreadable(std::string_view text) {
  std::string signals;
  for (const SignalName& name : kNames)
    signals += (signals.empty() ? "" : ", ") + std::string(name.text);
  return make_error(Code::BadRequest,
                    "a threshold must be SIGNAL<QUANTITY or SIGNAL<PERCENT% with "
                    "one of " +
                        signals + ", not \"" + std::string(text) + "\"");
}

}  // namespace

std::int64_t Threshold::of(std::int64_t capacity) const {
  if (amount > 0) return amount;
  return capacity / kWhole * milli_percent + capacity % kWhole * milli_percent / kWhole;
}

Result<std::vector<Threshold>> parse_thresholds(std::string_view text) {
  std::vector<Threshold> out;
  if (trim(text).empty()) return out;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t less = part.find('<');
    if (less == std::string_view::npos) return unreadable(part);
    const std::string_view name = trim(part.substr(0, less));
    std::string_view value = trim(part.substr(less + 1));
    Threshold made;
    bool known = false;
    for (const SignalName& candidate : kNames) {
      if (candidate.text != name) continue;
      made.signal = candidate.signal;
      known = true;
    }
    const bool percent = value.ends_with('%');
    if (percent) value.remove_suffix(1);
    const Result<Quantity> quantity = Quantity::parse(std::string(value));
    if (!known || !quantity || quantity->sign() < 0) return unreadable(part);
    if (percent) {
      made.milli_percent = quantity->milli_value();
      if (made.milli_percent > kWhole) return unreadable(part);
    } else {
      made.amount = quantity->value();
    }
    out.push_back(made);
  }
  return out;
}

Pressures PressureMachine::observe(const Figures& figures, WallTime now) {
  for (const Threshold& threshold : thresholds_) {
    const auto index = static_cast<std::size_t>(threshold.signal);
    const std::optional<Figure>& figure = figures[index];
    if (figure && figure->available < threshold.of(figure->capacity)) last_short_[index] = now;
  }
  const auto lasts = [&](Signal signal) {
    const std::optional<WallTime>& last = last_short_[static_cast<std::size_t>(signal)];
    return last && now - *last < kTransition;
  };
  return {lasts(Signal::Memory), lasts(Signal::Disk) || lasts(Signal::Inodes), lasts(Signal::Pids)};
}

}  // namespace krater::agent
