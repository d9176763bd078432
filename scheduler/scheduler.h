// The scheduler: keeps a picture of the cluster, and whenever something relevant changed runs a
// cycle over it (session, actions, close), binds the gangs that were placed, each in one
// transaction, and reports on the rest. Lives on one loop; nothing here blocks or reads a clock of
// its own.
//
//   watches -> Cache -> [debounce] -> Session: the configured actions -> binds, evictions
//   (ObjectClient::transact)
//                 ^                                   |                          |
//                 +------- assume / forget -----------+--- StatusWriter, QueueWriter, events (off
//                 the cycle)
//
// Always holds: a task is bound, or evicted, at most once at a time; a job that cannot be helped is
// not tried again until something changes that could help it; the last good configuration is the
// one in force.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"
#include "scheduler/binder.h"
#include "scheduler/cache.h"
#include "scheduler/config.h"
#include "scheduler/decisions.h"
#include "scheduler/evictor.h"
#include "scheduler/fairshare_writer.h"
#include "scheduler/feed.h"
#include "scheduler/gate_writer.h"
#include "scheduler/metrics.h"
#include "scheduler/parking.h"
#include "scheduler/queue_writer.h"
#include "scheduler/reporter.h"
#include "scheduler/status_writer.h"
#include "scheduler/volcano_metrics.h"

namespace krater::scheduler {

struct Options {
  std::set<std::string, std::less<>> scheduler_names{"volcano", "default-scheduler"};
  QueueName default_queue{"default"};
  // Only nodes with one of these labels are there; none: all nodes.
  std::vector<std::pair<std::string, std::string>> node_selector{};
  // Whoever names one of these is put into a PodGroup by a controller, and is not placed before.
  // None: there is no such controller, pods without a group are placed as they are.
  std::set<std::string, std::less<>> grouped_schedulers{};
  std::string config_text{};  // Volcano's YAML, in force while the ConfigMap is absent; "": the
                              // shipped default
  std::string config_namespace = "volcano-system";
  std::string config_name = "volcano-scheduler-configmap";
  std::string config_key = "volcano-scheduler.conf";
  Duration debounce = std::chrono::milliseconds(2);  // from a change to the cycle it starts
  Duration period = std::chrono::seconds(1);         // at the latest, while something waits
  // Cycles begin on the beat of this, and what comes between two of them is seen together
  // (Volcano's
  // --schedule-period); none: they follow what happens.
  Duration schedule_period{};
  Duration retry_parked_after =
      std::chrono::seconds(60);  // whatever happens: everything is tried again
  // The pods of an admitted group are to be there within this time, else it is said that they are
  // not.
  Duration pods_within = std::chrono::seconds(5);
  StatusWriter::Pace pace{};
  // Whether the server knows a kind that it need not know; null: it does.
  std::function<bool(const Kind&)> served{};
};

// What the configuration asks of plugin fairshare; null: it does not have it.
std::shared_ptr<const FairshareRules> fairshare_rules(const Config& config);

class ExtenderCaller;

struct Deps {
  client::ObjectClient& client;
  Loop& loop;
  const WallClock& clock;
  Rng& rng;
  Options options{};
  // On the loop, after each cycle and each bind: for those who show the numbers elsewhere.
  std::function<void(const Metrics&)> measured{};
  // On the loop, a line a decision.
  DecisionSink decided{};
  // Null: an extender that is configured fails at once. Outlives the scheduler.
  ExtenderCaller* extender = nullptr;
};

class Scheduler {
 public:
  explicit Scheduler(Deps deps);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Code::Invalid when options.config_text is no good; then nothing was started.
  Result<void> start();
  // Another options.config_text, from now on. One that is no good changes nothing.
  void use_base_config(const std::string& text);
  // No cycle and no write begins afterwards.
  void stop();
  const Metrics& metrics() const { return metrics_; }
  // On the loop; a copy costs as much as there are jobs.
  VolcanoFigures volcano_figures() const { return volcano_.figures(cache_); }
  // Nothing is due, in flight or waiting to be written.
  bool quiet() const;

 private:
  void decide(const Decision& decision);
  void wake();
  Duration until_beat() const;
  void tick();
  void run_cycle();
  void act(Session& session);
  AroundPlugin timed_plugins();
  void await_time();
  bool left_alone(const JobInfo& job) const;
  void tell_of_hollow_guarantees(const Session& session);
  void tell_of_queue_pitfalls(const Session& session);
  void placed(const JobKey& job);
  void answered();
  void use_config(const ObjectPtr& config_map);
  void adopt_fairshare();
  void measure_fairshare();
  // Null: there is none to tell it of.
  void tell_of_config(const ObjectPtr& config_map, std::string_view reason,
                      std::set<std::string> messages);

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  Rng& rng_;
  Options options_;
  std::function<void(const Metrics&)> measured_;
  DecisionSink decided_;
  ExtenderCaller* extender_;
  std::set<std::pair<QueueName, std::string_view>> told_queue_pitfalls_;
  std::set<QueueName> told_hollow_;  // whose guarantee is more than there is
  client::EventRecorder events_;
  client::EventRecorder config_events_;   // about the configuration: every one of them is told
  std::set<std::string> said_of_config_;  // last
  bool config_is_mapped_ = false;         // the ConfigMap's is in force, not the base
  std::optional<std::string> refused_;    // the last text that was no good
  Cache cache_;
  Feed feed_;
  StatusWriter statuses_;
  QueueWriter queues_;
  GateWriter gates_;
  FairshareWriter fairshare_;
  Config base_config_, config_;
  Metrics metrics_;
  VolcanoMetrics volcano_;
  Parking parking_;
  Backoffs backoffs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Execution execution_;
  Binder binder_;
  Evictor evictor_;
  Reporter reporter_;
  std::uint64_t seen_help_ = 0;  // Cache::help() at the last cycle
  bool report_all_ = true;
  bool shuffle_due_ = false;
  bool time_came_ = false;  // for somebody who is parked
  bool started_ = false;
  Loop::TimerId cycle_timer_ = 0, period_timer_ = 0, parked_timer_ = 0;
  SteadyTime parked_since_{};
  SteadyTime cycle_began_{};  // the last one; before the first: the start
};

}  // namespace krater::scheduler
