#include "cli/queue_metrics.h"

#include <memory>
#include <mutex>
#include <utility>

namespace krater::cli {
namespace {

using controllers::ControllerCounters;

struct Last {
  std::mutex mutex;
  std::vector<ControllerCounters> counters;  // guarded by mutex
};

}  // namespace

void add_queue_metrics(api::Metrics& to, Loop& control,
                       std::function<std::vector<ControllerCounters>()> counters) {
  const auto last = std::make_shared<Last>();
  to.add_refresh([&control, last, counters = std::move(counters)](std::function<void()> done) {
    control.post([last, counters, done = std::move(done)] {
      std::vector<ControllerCounters> now = counters();
      {
        const std::lock_guard lock(last->mutex);
        last->counters = std::move(now);
      }
      done();
    });
  });
  const auto add = [&](const char* name, const char* help, const char* type,
                       std::function<std::uint64_t(const ControllerCounters&)> value) {
    to.add_family(name, help, type, [last, value = std::move(value)] {
      std::vector<api::Metrics::Sample> out;
      const std::lock_guard lock(last->mutex);
      for (const ControllerCounters& one : last->counters)
        out.push_back({"name=\"" + one.name + "\"", static_cast<double>(value(one))});
      return out;
    });
  };
  using C = ControllerCounters;
  // Each key that was taken is in a pass, has been, or still waits.
  add("workqueue_adds_total", "Keys taken into the queue.", "counter",
      [](const C& c) { return c.passes + c.queued; });
  add("workqueue_depth", "Keys that wait.", "gauge", [](const C& c) { return c.queued; });
  add("workqueue_retries_total", "Passes that end in a back-off.", "counter",
      [](const C& c) { return c.retries; });
  add("krater_controller_writes_total", "Writes that a controller asked for.", "counter",
      [](const C& c) { return c.writes; });
  add("krater_controller_conflicts_total", "Writes that lost against a newer object.", "counter",
      [](const C& c) { return c.conflicts; });
}

}  // namespace krater::cli
