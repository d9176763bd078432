#include "cli/scheduler_gauges.h"

#include <chrono>
#include <functional>
#include <utility>

#include "cli/metric_labels.h"

namespace krater::cli {
namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void add_scheduler_gauges(api::Metrics& to, const std::shared_ptr<const SchedulerGauges>& from) {
  const auto add = [&](const char* name, const char* help,
                       std::function<double(const scheduler::Metrics&)> value) {
    to.add_gauge(name, help, [from, value = std::move(value)] { return value(from->last()); });
  };
  using M = scheduler::Metrics;
  add("krater_scheduler_cycles_total", "Scheduling cycles so far.",
      [](const M& m) { return static_cast<double>(m.cycles); });
  add("krater_scheduler_cycle_seconds_total", "Time spent in scheduling cycles.",
      [](const M& m) { return seconds(m.all_cycles); });
  add("krater_scheduler_cycle_seconds_max", "The longest scheduling cycle.",
      [](const M& m) { return seconds(m.longest_cycle); });
  add("krater_scheduler_binds_total", "Pods bound to nodes.",
      [](const M& m) { return static_cast<double>(m.binds); });
  add("krater_scheduler_bind_failures_total", "Gangs whose bind was refused.",
      [](const M& m) { return static_cast<double>(m.bind_failures); });
  add("krater_scheduler_waiting_jobs", "Gangs that wait, after the last cycle.",
      [](const M& m) { return static_cast<double>(m.waiting_jobs); });
  // Volcano's name and labels.
  to.add_family("volcano_namespace_decayed_usage",
                "Decayed cumulative resource-seconds usage for one namespace in one queue", "gauge",
                [from] {
                  std::vector<api::Metrics::Sample> out;
                  const scheduler::Metrics now = from->last();
                  if (now.usage == nullptr) return out;
                  for (const scheduler::Metrics::Usage& one : *now.usage) {
                    out.push_back({label_text({{"namespace_name", one.user},
                                               {"queue", one.queue},
                                               {"resource", one.resource}}),
                                   static_cast<double>(one.unit_seconds)});
                  }
                  return out;
                });
}

}  // namespace krater::cli
