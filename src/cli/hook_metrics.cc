#include "cli/hook_metrics.h"

#include <fmt/format.h>

namespace krater::cli {
namespace {

using Samples = std::vector<api::Metrics::Sample>;

Samples counts(const std::map<std::string, std::uint64_t>& from) {
  Samples out;
  for (const auto& [labels, count] : from) out.push_back({labels, static_cast<double>(count)});
  return out;
}

Samples histogram(const std::map<std::string, api::HookStats::Times>& from) {
  constexpr auto& kBounds = api::HookStats::kBounds;
  Samples out;
  for (const auto& [labels, times] : from) {
    double below = 0;
    for (std::size_t i = 0; i < times.buckets.size(); ++i) {
      below += static_cast<double>(times.buckets[i]);
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      out.push_back({fmt::format(R"(le="{}",{})", bound, labels), below, "_bucket"});
    }
    out.push_back({labels, times.sum_s, "_sum"});
    out.push_back({labels, static_cast<double>(times.count), "_count"});
  }
  return out;
}

}  // namespace

void add_hook_metrics(api::Metrics& to, const api::HookStats& stats) {
  to.add_family("apiserver_admission_webhook_admission_duration_seconds",
                "Time that webhooks took, by name, operation and type.", "histogram",
                [&stats] { return histogram(stats.totals().durations); });
  to.add_family("apiserver_admission_webhook_request_total",
                "Questions to webhooks, by name, operation, type and code.", "counter",
                [&stats] { return counts(stats.totals().requests); });
  to.add_family("apiserver_admission_webhook_rejection_count",
                "Requests that a webhook refused, or that failed because it did.", "counter",
                [&stats] { return counts(stats.totals().rejections); });
  to.add_family("apiserver_admission_webhook_fail_open_count",
                "Requests that went on although their webhook could not be asked.", "counter",
                [&stats] { return counts(stats.totals().fail_opens); });
}

}  // namespace krater::cli
