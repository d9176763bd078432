#include "api/webhook/hook_stats.h"

#include <algorithm>

namespace krater::api {
namespace {

std::string label(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + std::string(value) + "\"";
}

// Keeps the number of series bounded.
std::string code_text(int code) {
  return std::to_string(std::min(code, 600));
}

}  // namespace

void HookStats::count(const Hook& hook, std::string_view operation, const HookVerdict& verdict,
                      Duration took) {
  using Outcome = HookVerdict::Outcome;
  const bool failed = verdict.outcome == Outcome::Failed;
  const bool rejected = verdict.outcome == Outcome::Denied || (failed && hook.fail);
  const std::string name = label("name", hook.name);
  const std::string type = label("type", hook.kind == HookKind::Mutating ? "admit" : "validating");
  const std::string what = label("operation", operation);
  const std::string refused = label("rejected", rejected ? "true" : "false");
  const double seconds = std::chrono::duration<double>(took).count();

  const std::lock_guard lock(mutex_);
  ++totals_.requests[label("code", code_text(verdict.code)) + "," + name + "," + what + "," +
                     refused + "," + type];
  Times& times = totals_.durations[name + "," + what + "," + refused + "," + type];
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++times.buckets[static_cast<std::size_t>(bucket - kBounds.begin())];
  times.sum_s += seconds;
  ++times.count;
  if (rejected) {
    ++totals_.rejections[label("error_type", failed ? "calling_webhook_error" : "no_error") + "," +
                         name + "," + what + "," +
                         label("rejection_code", code_text(verdict.code)) + "," + type];
  }
  if (failed && !hook.fail) ++totals_.fail_opens[name + "," + type];
}

HookStats::Totals HookStats::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace krater::api
