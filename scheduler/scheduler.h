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

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"
#include "scheduler/cache.h"
#include "scheduler/config.h"
#include "scheduler/decisions.h"
#include "scheduler/fairshare_writer.h"
#include "scheduler/feed.h"
#include "scheduler/gate_writer.h"
#include "scheduler/queue_writer.h"
#include "scheduler/report.h"
#include "scheduler/status_writer.h"

namespace krater::scheduler {

struct Options {
  std::set<std::string, std::less<>> scheduler_names{"volcano", "default-scheduler"};
  QueueName default_queue{"default"};
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

struct Metrics {
  std::uint64_t cycles = 0;
  Duration last_cycle{}, longest_cycle{}, all_cycles{};
  std::uint64_t binds = 0;              // pods
  std::uint64_t bind_failures = 0;      // transactions
  std::uint64_t evictions = 0;          // pods
  std::uint64_t eviction_failures = 0;  // transactions
  std::uint64_t config_errors = 0;
  std::size_t waiting_jobs = 0;  // after the last cycle
  std::size_t parked_jobs = 0;   // of those: not to be tried before a change
  // Of plugin fairshare, by queue and user; null where it is not asked for.
  struct Usage {
    std::string queue, user, resource;
    Wide unit_seconds = 0;
  };
  std::shared_ptr<const std::vector<Usage>> usage{};
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
  // No cycle and no write begins afterwards.
  void stop();
  const Metrics& metrics() const { return metrics_; }
  // Nothing is due, in flight or waiting to be written.
  bool quiet() const;

 private:
  struct Parked {
    std::uint64_t version = 0, help = 0;
    std::optional<WallTime> again{};  // not longer than until then
  };
  struct Backoff {
    int failures = 0;
    SteadyTime until{};
  };

  void decide(const Decision& decision);
  void tell_waiting(const JobReport& report);
  void wake();
  Duration until_beat() const;
  void tick();
  void run_cycle();
  void await_time();
  bool left_alone(const JobInfo& job) const;
  void tell_of_hollow_guarantees(const Session& session);
  bool gives_time(const JobReport& report, PodGroupPhase before);
  bool pods_overdue(const JobKey& job) const;
  void park(const JobReport& report, std::uint64_t help, std::map<JobKey, Parked>& parked);
  void forget_those_who_left();
  void take_reports(const Session& session, const std::set<JobKey>& changed, bool all);
  void bind(GangBind gang);
  void write_binds_later();
  void write_bind(const GangBind& gang);
  // `written`: the pods, then what was settled of their volumes.
  void bound(const GangBind& gang, const std::vector<ObjectPtr>& written);
  Result<std::vector<client::Write>> volume_writes(const GangBind& gang) const;
  void not_bound(const GangBind& gang, const Error& why);
  void evict(const GangEviction& eviction);
  void evicted(const GangEviction& eviction);
  void not_evicted(const GangEviction& eviction, const Error& why);
  void retry_after_failure(const JobKey& job);
  void use_config(const ObjectPtr& config_map);
  void adopt_fairshare();
  void measure_fairshare();
  void tell_of_config(const Object& config_map, std::string_view reason,
                      std::set<std::string> messages);

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  Rng& rng_;
  Options options_;
  std::function<void(const Metrics&)> measured_;
  DecisionSink decided_;
  ExtenderCaller* extender_;
  std::map<JobKey, std::string> told_waiting_;  // the reason in the decision log
  std::map<JobKey, SteadyTime> incomplete_;     // running gangs, since when members are missing
  std::set<QueueName> told_hollow_;             // whose guarantee is more than there is
  client::EventRecorder events_;
  client::EventRecorder config_events_;   // about the configuration: every one of them is told
  std::set<std::string> said_of_config_;  // last
  Cache cache_;
  Feed feed_;
  StatusWriter statuses_;
  QueueWriter queues_;
  GateWriter gates_;
  FairshareWriter fairshare_;
  Config base_config_, config_;
  Metrics metrics_;
  std::map<JobKey, Parked> parked_;
  std::map<JobKey, Backoff> backoffs_;
  std::map<JobKey, WallTime> bare_since_;                   // admitted, and without pods
  std::map<JobKey, std::vector<TaskSpecPtr>> leaving_for_;  // evicted for a job, and still there
  std::map<JobKey, int> binding_;                           // transactions in flight, or to come
  std::deque<GangBind> to_bind_;                            // assumed, not written yet
  bool binds_posted_ = false;
  std::uint64_t seen_help_ = 0;  // Cache::help() at the last cycle
  bool report_all_ = true;
  bool shuffle_due_ = false;
  bool time_came_ = false;  // for somebody who is parked
  bool started_ = false;
  Loop::TimerId cycle_timer_ = 0, period_timer_ = 0, parked_timer_ = 0;
  SteadyTime parked_since_{};
  SteadyTime cycle_began_{};  // the last one; before the first: the start
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
