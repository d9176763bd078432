#include "cli/volcano_scheduler_metrics.h"

#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "cli/metric_labels.h"

namespace krater::cli {
namespace {

using scheduler::Bounds;
using scheduler::Dim;
using scheduler::QueueFigures;
using scheduler::Resource;
using scheduler::VolcanoFigures;
using Samples = std::vector<api::Metrics::Sample>;
using Job = VolcanoFigures::Job;

// A scrape does not wait for a cycle that takes long: it has the figures of the last one.
class Last {
 public:
  void set(VolcanoFigures now) {
    auto fresh = std::make_shared<const VolcanoFigures>(std::move(now));
    const std::lock_guard lock(mutex_);
    figures_ = std::move(fresh);
  }
  std::shared_ptr<const VolcanoFigures> get() const {
    const std::lock_guard lock(mutex_);
    return figures_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const VolcanoFigures> figures_;  // null: there are none yet
};

double milliseconds(Duration took) {
  return std::chrono::duration<double, std::milli>(took).count();
}

// In Volcano's units: cpu and whatever is no more than a name in thousandths, memory and pods in
// whole ones. Where there is no bound, as much as a double can be.
double in_units(Dim dim, std::int64_t amount) {
  if (amount == Bounds::kUnset) return std::numeric_limits<double>::max();
  const bool as_they_are =
      dim == scheduler::kCpu || dim == scheduler::kMemory || dim == scheduler::kPods;
  return static_cast<double>(amount) * (as_they_are ? 1 : 1000);
}

class Families {
 public:
  Families(api::Metrics& to, std::shared_ptr<const Last> last) : to_(to), last_(std::move(last)) {}

  using Fill = std::function<void(const VolcanoFigures&, Samples&)>;
  void add(const std::string& name, const std::string& help, const char* type, Fill fill) {
    to_.add_family("volcano_" + name, help, type, [last = last_, fill = std::move(fill)] {
      Samples out;
      if (const auto now = last->get()) fill(*now, out);
      return out;
    });
  }
  void gauge(const std::string& name, const std::string& help, Fill fill) {
    add(name, help, "gauge", std::move(fill));
  }
  void number(const std::string& name, const std::string& help, const char* type,
              std::function<std::optional<double>(const VolcanoFigures&)> value) {
    add(name, help, type, [value = std::move(value)](const VolcanoFigures& now, Samples& out) {
      if (const std::optional<double> is = value(now)) out.push_back({"", *is});
    });
  }
  void histogram(const std::string& name, const std::string& help, Fill fill) {
    add(name, help, "histogram", std::move(fill));
  }
  using Named = std::map<std::string, Histogram, std::less<>>;
  void histograms(const std::string& name, const std::string& help, std::string_view label,
                  const Named& (*of)(const VolcanoFigures&)) {
    histogram(name, help, [label, of](const VolcanoFigures& now, Samples& out) {
      for (const auto& [value, one] : of(now))
        add_histogram(out, label_text({{label, value}}), one);
    });
  }
  void of_queues(const std::string& name, const std::string& help,
                 std::function<std::optional<double>(const QueueFigures&)> value) {
    gauge(name, help, [value = std::move(value)](const VolcanoFigures& now, Samples& out) {
      for (const VolcanoFigures::Queue& one : now.queues) {
        if (const std::optional<double> is = value(one.amounts))
          out.push_back({label_text({{"queue_name", one.name}}), *is});
      }
    });
  }
  void of_jobs(const std::string& name, const std::string& help,
               std::function<std::optional<double>(const Job&)> value) {
    gauge(name, help, [value = std::move(value)](const VolcanoFigures& now, Samples& out) {
      for (const Job& one : now.jobs) {
        if (const std::optional<double> is = value(one)) {
          out.push_back({label_text({{"job_name", one.key.name},
                                     {"job_namespace", one.key.name_space},
                                     {"queue", one.queue}}),
                         *is});
        }
      }
    });
  }
  // The label is a name without its namespace: jobs that share it share a number.
  void by_job_id(const std::string& name, const std::string& help, const char* type,
                 std::function<std::optional<double>(const Job&)> value) {
    add(name, help, type, [value = std::move(value)](const VolcanoFigures& now, Samples& out) {
      std::map<std::string_view, double> sums;
      for (const Job& one : now.jobs) {
        if (const std::optional<double> is = value(one)) sums[one.key.name] += *is;
      }
      for (const auto& [id, sum] : sums) out.push_back({label_text({{"job_id", id}}), sum});
    });
  }

 private:
  api::Metrics& to_;
  std::shared_ptr<const Last> last_;
};

// One kind of amounts of a queue; nothing where no plugin knows them, Bounds::kUnset where they
// are without bound.
struct Amounts {
  const char *name, *word;
  std::optional<std::int64_t> (*at)(const QueueFigures&, Dim);
};

const Amounts kAmounts[] = {
    {"allocated", "Allocated",
     [](const QueueFigures& q, Dim d) { return std::optional(q.allocated.at(d)); }},
    {"request", "Request",
     [](const QueueFigures& q, Dim d) { return std::optional(q.request.at(d)); }},
    {"deserved", "Deserved",
     [](const QueueFigures& q, Dim d) { return std::optional(q.deserved.at(d)); }},
    {"inqueue", "Inqueue",
     [](const QueueFigures& q, Dim d) { return std::optional(q.inqueue.at(d)); }},
    {"capacity", "Capacity",
     [](const QueueFigures& q, Dim d) {
       return q.capability ? std::optional(q.capability->at(d)) : std::nullopt;
     }},
    {"real_capacity", "Real capacity",
     [](const QueueFigures& q, Dim d) {
       return q.real_capability ? std::optional(q.real_capability->at(d)) : std::nullopt;
     }},
};

// Something of it is in the cluster, or is said of the queue.
bool is_of_interest(const VolcanoFigures& now, const QueueFigures& queue, Dim dim) {
  if (now.total.at(dim) != 0) return true;
  for (const Amounts& amounts : kAmounts) {
    const std::optional<std::int64_t> amount = amounts.at(queue, dim);
    if (amount && *amount != 0 && *amount != Bounds::kUnset) return true;
  }
  return false;
}

void add_amounts(Families& to, const Amounts& amounts) {
  const std::string prefix = std::string("queue_") + amounts.name;
  const std::string word = amounts.word;
  for (const auto& [dim, suffix, what] :
       {std::tuple(scheduler::kCpu, "_milli_cpu", " CPU"),
        std::tuple(scheduler::kMemory, "_memory_bytes", " memory")}) {
    to.of_queues(prefix + suffix, word + what + " of a queue.",
                 [at = amounts.at, dim = dim](const QueueFigures& queue) -> std::optional<double> {
                   const std::optional<std::int64_t> amount = at(queue, dim);
                   if (!amount) return std::nullopt;
                   return in_units(dim, *amount);
                 });
  }
  to.gauge(
      prefix + "_scalar_resources", word + " scalar resources of a queue.",
      [at = amounts.at](const VolcanoFigures& now, Samples& out) {
        for (const VolcanoFigures::Queue& one : now.queues) {
          for (Dim d = scheduler::kPods; d < now.names.count(); ++d) {
            const std::optional<std::int64_t> amount = at(one.amounts, d);
            if (!amount || *amount == Bounds::kUnset || !is_of_interest(now, one.amounts, d))
              continue;
            out.push_back({label_text({{"queue_name", one.name}, {"resource", now.names.name(d)}}),
                           in_units(d, *amount)});
          }
        }
      });
}

void add_queues(Families& to) {
  for (const Amounts& amounts : kAmounts) add_amounts(to, amounts);
  to.of_queues("queue_share", "Share of a queue.",
               [](const QueueFigures& queue) { return std::optional(queue.share.value()); });
  to.of_queues("queue_weight", "Weight of a queue.",
               [](const QueueFigures& queue) -> std::optional<double> {
                 if (!queue.weight) return std::nullopt;
                 return static_cast<double>(*queue.weight);
               });
  to.of_queues("queue_overused", "Whether a queue has more than it deserves.",
               [](const QueueFigures& queue) { return std::optional(queue.overused ? 1.0 : 0.0); });
}

void add_jobs(Families& to) {
  to.of_jobs("e2e_job_scheduling_duration",
             "Milliseconds from a job's creation until the last of its pods had a node.",
             [](const Job& job) -> std::optional<double> {
               if (!job.placed) return std::nullopt;
               return milliseconds(*job.placed - job.created);
             });
  to.of_jobs("e2e_job_scheduling_start_time", "When a job was created, in seconds since 1970.",
             [](const Job& job) {
               return std::optional(static_cast<double>(job.created.unix_seconds()));
             });
  to.of_jobs("e2e_job_scheduling_last_time",
             "When the last of a job's pods had a node, in seconds since 1970.",
             [](const Job& job) -> std::optional<double> {
               if (!job.placed) return std::nullopt;
               return static_cast<double>(job.placed->unix_seconds());
             });
  to.gauge("job_share", "Share of a job.", [](const VolcanoFigures& now, Samples& out) {
    for (const Job& one : now.jobs) {
      if (!one.share) continue;
      out.push_back({label_text({{"job_id", one.key.name}, {"job_ns", one.key.name_space}}),
                     one.share->value()});
    }
  });
  to.by_job_id("job_retry_counts", "How often a job was tried in vain.", "counter",
               [](const Job& job) -> std::optional<double> {
                 if (job.retries == 0) return std::nullopt;
                 return static_cast<double>(job.retries);
               });
  to.by_job_id("unschedule_task_count", "Pods that a job's gang lacks.", "gauge",
               [](const Job& job) -> std::optional<double> {
                 if (!job.missing) return std::nullopt;
                 return static_cast<double>(*job.missing);
               });
  to.number("unschedule_job_count", "Jobs whose gangs lack pods.", "gauge",
            [](const VolcanoFigures& now) -> std::optional<double> {
              if (!now.unscheduled_jobs) return std::nullopt;
              return static_cast<double>(*now.unscheduled_jobs);
            });
}

void add_times(Families& to) {
  to.histogram("e2e_scheduling_latency_milliseconds", "Duration of a scheduling session.",
               [](const VolcanoFigures& now, Samples& out) { add_histogram(out, "", now.cycle); });
  to.histogram(
      "open_session_duration_milliseconds", "Duration of the opening of a session.",
      [](const VolcanoFigures& now, Samples& out) { add_histogram(out, "", now.open_session); });
  to.histogram(
      "e2e_job_scheduling_latency_milliseconds",
      "Time from a job's creation until its pods had nodes.",
      [](const VolcanoFigures& now, Samples& out) { add_histogram(out, "", now.job_latency); });
  to.histogram("plugin_scheduling_latency_milliseconds",
               "Duration of a plugin's work at the beginning and at the end of a session.",
               [](const VolcanoFigures& now, Samples& out) {
                 for (const auto& [key, one] : now.plugins) {
                   const auto& [plugin, part] = key;
                   add_histogram(out, label_text({{"OnSession", part}, {"plugin", plugin}}), one);
                 }
               });
  to.histograms(
      "action_scheduling_latency_milliseconds", "Duration of an action.", "action",
      [](const VolcanoFigures& now) -> const auto& { return now.actions; });
  to.histograms(
      "task_scheduling_latency_milliseconds",
      "Time from a pod's creation until it had come so far.", "stage",
      [](const VolcanoFigures& now) -> const auto& { return now.pod_stages; });
  to.histograms(
      "scheduling_stage_duration_milliseconds", "Duration of a pod's stages.", "stage",
      [](const VolcanoFigures& now) -> const auto& { return now.work_stages; });
}

void add_evictions(Families& to) {
  to.number("pod_preemption_victims", "Victims of the last preemption.", "gauge",
            [](const VolcanoFigures& now) {
              return std::optional(static_cast<double>(now.preemption_victims));
            });
  to.number("total_preemption_attempts", "How often victims were looked for.", "counter",
            [](const VolcanoFigures& now) {
              return std::optional(static_cast<double>(now.preemption_attempts));
            });
  to.add("eviction_transactions_total", "Evictions that were carried out, by action.", "counter",
         [](const VolcanoFigures& now, Samples& out) {
           for (const auto& [action, count] : now.eviction_transactions)
             out.push_back({label_text({{"action", action}}), static_cast<double>(count)});
         });
}

}  // namespace

void add_volcano_scheduler_metrics(api::Metrics& to, Loop& scheduler,
                                   std::function<std::optional<VolcanoFigures>()> figures) {
  const auto last = std::make_shared<Last>();
  to.add_refresh([&scheduler, last, figures = std::move(figures)](std::function<void()> done) {
    scheduler.post([last, figures, done = std::move(done)] {
      if (std::optional<VolcanoFigures> now = figures()) last->set(*std::move(now));
      done();
    });
  });
  Families families(to, last);
  add_queues(families);
  add_jobs(families);
  add_times(families);
  add_evictions(families);
}

}  // namespace krater::cli
