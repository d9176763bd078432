#include "scheduler/scheduler.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "scheduler/explain.h"
#include "scheduler/queue_pitfalls.h"

namespace krater::scheduler {
namespace {

// Between cycles, so that one of them takes in what came with a burst: this many times what the
// last one took, but no more than the limit.
constexpr int kPausePerCycle = 4;
constexpr Duration kPauseLimit = std::chrono::milliseconds(50);

// For words that come as often as somebody writes something else.
constexpr client::EventRecorder::Limits kAllEvents{
    256, std::numeric_limits<int>::max(), {}, std::numeric_limits<std::size_t>::max(), {}};

Result<Config> parse_base_config(const std::string& text) {
  return parse_config(text.empty() ? default_config_text() : std::string_view(text));
}

}  // namespace

std::shared_ptr<const FairshareRules> fairshare_rules(const Config& config) {
  const PluginChoice* choice = config.plugin("fairshare");
  if (choice == nullptr) return nullptr;
  PluginSet asked;
  asked.start_tier();
  choice->make(asked, choice->flags);
  return asked.fairshare;
}

Scheduler::Scheduler(Deps deps)
    : client_(deps.client),
      loop_(deps.loop),
      clock_(deps.clock),
      rng_(deps.rng),
      options_(std::move(deps.options)),
      measured_(std::move(deps.measured)),
      decided_(std::move(deps.decided)),
      extender_(deps.extender),
      events_(client_, loop_, clock_, "volcano"),
      config_events_(client_, loop_, clock_, "volcano", {}, kAllEvents),
      cache_({options_.scheduler_names, options_.default_queue, options_.grouped_schedulers}),
      feed_(client_, cache_,
            {[this] { wake(); }, [this](const ObjectPtr& map) { use_config(map); },
             [this](const TaskSpec& task) {
               volcano_.pods_reached(VolcanoMetrics::PodStage::Watched,
                                     clock_.now() - task.created);
             }}),
      statuses_(
          client_, loop_, clock_, events_,
          [this](const TaskSpec& task) { return cache_.pending_task(task); }, options_.pace),
      queues_(client_, cache_, loop_),
      gates_(client_,
             [this](const JobKey& job) {
               parking_.release(job);
               retry_later(execution_, job);
             }),
      fairshare_(client_, loop_, clock_, config_events_, cache_.fairshare(),
                 [this] {
                   cache_.note_help();
                   wake();
                 }),
      parking_(options_.pods_within),
      execution_{client_,
                 loop_,
                 clock_,
                 cache_,
                 events_,
                 backoffs_,
                 metrics_,
                 volcano_,
                 [this](const Decision& decision) { decide(decision); },
                 [this, alive = alive_] {
                   if (*alive) answered();
                 }},
      binder_(execution_, {[this](const JobKey& job) { placed(job); },
                           [this](const TaskSpecPtr& task, const std::string& why) {
                             statuses_.bind_failed(task, why);
                           }}),
      evictor_(execution_),
      reporter_(execution_, parking_, statuses_, binder_, [this] { wake(); }) {}

Scheduler::~Scheduler() {
  stop();
  *alive_ = false;
}

Result<void> Scheduler::start() {
  CHECK(loop_.on_loop_thread() && !started_);
  TRY_ASSIGN(base_config_, parse_base_config(options_.config_text));
  config_ = base_config_;
  started_ = true;
  parked_since_ = cycle_began_ = loop_.now();
  adopt_fairshare();
  feed_.start({options_.config_namespace, options_.config_name}, options_.served,
              options_.node_selector);
  period_timer_ = loop_.after(options_.period, [this] { tick(); });
  return {};
}

void Scheduler::stop() {
  if (!std::exchange(started_, false)) return;
  cache_.fairshare().set_time(loop_.now());
  cache_.queue_sums();  // what changed since the last cycle counts too
  fairshare_.stop();
  feed_.stop();
  statuses_.stop();
  loop_.cancel(cycle_timer_);
  loop_.cancel(period_timer_);
  loop_.cancel(parked_timer_);
  cycle_timer_ = period_timer_ = parked_timer_ = 0;
}

void Scheduler::decide(const Decision& decision) {
  if (decided_) decided_(clock_.now(), to_line(decision));
}

bool Scheduler::quiet() const {
  return cycle_timer_ == 0 && binder_.idle() && statuses_.pending() == 0;
}

// With a period cycles begin on its beat, however long nothing happened before: what comes together
// is not torn apart by the first of it.
Duration Scheduler::until_beat() const {
  const Duration period = options_.schedule_period;
  if (period <= Duration(0)) return Duration(0);
  const Duration since = loop_.now() - cycle_began_;
  if (since >= period && since % period == Duration(0)) return Duration(0);
  return period - since % period;
}

// Changes come in bursts; the first one starts the clock. Cycles that take long leave the loop as
// long to others.
void Scheduler::wake() {
  if (!started_ || cycle_timer_ != 0 || !feed_.synced() || !fairshare_.ready()) return;
  const Duration pause =
      std::max(metrics_.last_cycle, std::min(kPausePerCycle * metrics_.last_cycle, kPauseLimit));
  cycle_timer_ = loop_.after(std::max({options_.debounce, pause, until_beat()}), [this] {
    cycle_timer_ = 0;
    run_cycle();
  });
}

void Scheduler::tick() {
  period_timer_ = loop_.after(options_.period, [this] { tick(); });
  if (loop_.now() - parked_since_ >= options_.retry_parked_after) {
    parking_.open();
    parked_since_ = loop_.now();
  }
  shuffle_due_ = config_.has_action("shuffle");
  if (metrics_.waiting_jobs > parking_.size() || shuffle_due_) wake();
  cache_.fairshare().set_time(loop_.now());
  binder_.look_at_volumes();
  if (feed_.synced()) queues_.flush();
  fairshare_.tick();
  measure_fairshare();
}

// The session's plugin says what it wants counted; counting goes on from session to session.
void Scheduler::adopt_fairshare() {
  FairshareBook& book = cache_.fairshare();
  const bool fresh = book.accounts().empty();
  book.set_time(loop_.now());
  cache_.use_fairshare(fairshare_rules(config_));
  fairshare_.use(book.rules(), fresh);
}

void Scheduler::measure_fairshare() {
  const FairshareBook& book = cache_.fairshare();
  if (book.rules() == nullptr) {
    if (std::exchange(metrics_.usage, nullptr) != nullptr && measured_) measured_(metrics_);
    return;
  }
  auto now = std::make_shared<std::vector<Metrics::Usage>>();
  for (const FairshareBook::Account* one : book.accounts()) {
    if (const Wide used = book.used(*one); used > 0)
      now->push_back({one->queue.text(), one->user, book.rules()->measure_name(one->queue), used});
  }
  metrics_.usage = std::move(now);
  if (measured_) measured_(metrics_);
}

bool Scheduler::left_alone(const JobInfo& job) const {
  if (backoffs_.hold(job.key, loop_.now())) return true;
  // Where order is kept, those in front are asked whenever those behind them are.
  const QueueInfo* queue = cache_.queue(job.queue);
  if (queue != nullptr && queue->fifo && config_.behaviors.strict_fifo) return false;
  return parking_.holds(job, cache_.help(), clock_.now());
}

// Wakes for the first of those who are parked until a certain time.
void Scheduler::await_time() {
  loop_.cancel(std::exchange(parked_timer_, 0));
  const std::optional<WallTime> first = parking_.first_due();
  if (!first) return;
  parked_timer_ = loop_.after(std::max(*first - clock_.now(), Duration(0)), [this] {
    parked_timer_ = 0;
    time_came_ = true;
    wake();
  });
}

void Scheduler::run_cycle() {
  binder_.look_at_volumes();
  cache_.fairshare().set_time(loop_.now());
  if (fairshare_.has_news()) {
    cache_.queue_sums();
    fairshare_.load();
  }
  // Heartbeats and our own writes come by here as well.
  for (const JobKey& job : parking_.newly_overdue(clock_.now())) cache_.look_at(job);
  const bool tried = metrics_.waiting_jobs <= parking_.size() && !std::exchange(time_came_, false);
  if (tried && !report_all_ && !cache_.has_changes() && cache_.help() == seen_help_ &&
      !std::exchange(shuffle_due_, false)) {
    return;
  }
  seen_help_ = cache_.help();
  const SteadyTime begin = loop_.now();
  cycle_began_ = begin;
  std::vector<GangBind> binds;
  std::vector<GangEviction> evictions;
  std::vector<std::pair<TaskSpecPtr, QueueName>> let_go;
  {
    const bool all = std::exchange(report_all_, false);
    evictor_.forget_those_who_left();
    Snapshot snapshot = cache_.snapshot(all ? Scope::All : Scope::Open);
    snapshot.leaving_for = [this](const JobKey& job) { return evictor_.leaving_for(job); };
    Session session(
        std::move(snapshot), config_, rng_.uuid(), clock_.now(),
        [this](const JobInfo& job) { return left_alone(job); }, extender_, timed_plugins());
    volcano_.session_opened(loop_.now() - begin);
    act(session);
    session.close();
    volcano_.take(session);
    binds = gang_binds(session);
    evictions = gang_evictions(session);
    for (const TaskRef& one : session.lifted_gates())
      let_go.emplace_back(session.task(one).spec, session.job(one.job).queue);
    for (const GangBind& gang : binds) binder_.announce(gang);
    tell_of_hollow_guarantees(session);
    tell_of_queue_pitfalls(session);
    reporter_.take(session, cache_.take_changed_jobs(), all);
    await_time();
  }
  for (GangBind& gang : binds) binder_.bind(std::move(gang));
  for (const GangEviction& one : evictions) evictor_.evict(one);
  for (const auto& [task, queue] : let_go) {
    if (!gates_.lift(*task)) continue;
    decide({"allocate", "ungated", queue.text(), task->job.text(),
            task->name_space() + "/" + task->name(), "", "its queue has room for it"});
  }
  queues_.flush();
  ++metrics_.cycles;
  metrics_.last_cycle = loop_.now() - begin;
  metrics_.longest_cycle = std::max(metrics_.longest_cycle, metrics_.last_cycle);
  metrics_.all_cycles += metrics_.last_cycle;
  volcano_.cycle_took(metrics_.last_cycle);
  if (measured_) measured_(metrics_);
}

void Scheduler::act(Session& session) {
  for (const ActionEntry* action : config_.actions) {
    const SteadyTime begin = loop_.now();
    session.begin(action->name);
    action->execute(session);
    volcano_.action_took(action->name, loop_.now() - begin);
  }
}

AroundPlugin Scheduler::timed_plugins() {
  return [this](std::string_view plugin, PluginPart part, const std::function<void()>& work) {
    const SteadyTime begin = loop_.now();
    work();
    volcano_.plugin_took(plugin, part, loop_.now() - begin);
  };
}

// Once, until it is so no more.
void Scheduler::tell_of_hollow_guarantees(const Session& session) {
  std::set<QueueName> hollow;
  for (QueueId id = 0; id < session.queue_count(); ++id) {
    const QueueInfo& queue = session.queue(id);
    if (queue.guarantee.fits_in(session.total())) continue;
    hollow.insert(queue.name);
    if (told_hollow_.contains(queue.name) || queue.object == nullptr) continue;
    const std::string text =
        "its guarantee is more than all nodes together have (" +
        amounts_text(session.names(), session.total()) + ")" +
        std::string(config_.behaviors.hollow_guarantees_reserve_nothing
                        ? ": of what they have too little of, nothing is kept free for it "
                          "until they have enough"
                        : ": no other queue gets any of what they have too little of");
    events_.warning(*queue.object, "GuaranteeAboveCluster", text);
    decide({"config", "hollow", queue.name.text(), "", "", "", text});
  }
  told_hollow_ = std::move(hollow);
}

void Scheduler::tell_of_queue_pitfalls(const Session& session) {
  std::set<std::pair<QueueName, std::string_view>> now;
  for (QueueId id = 0; id < session.queue_count(); ++id) {
    const QueueInfo& queue = session.queue(id);
    if (queue.object == nullptr) continue;
    for (const std::string_view pitfall : pitfalls(config_, queue)) {
      now.emplace(queue.name, pitfall);
      if (told_queue_pitfalls_.contains({queue.name, pitfall})) continue;
      events_.warning(*queue.object, "QueueConfigurationPitfall", std::string(pitfall));
      decide({"config", "pitfall", queue.name.text(), "", "", "", std::string(pitfall)});
    }
  }
  told_queue_pitfalls_ = std::move(now);
}

void Scheduler::placed(const JobKey& job) {
  reporter_.placed(job);
  // Who runs now may have to go for somebody who waits.
  for (const std::string_view action : {"preempt", "reclaim", "gangpreempt", "gangreclaim"}) {
    if (config_.has_action(action)) cache_.note_help();
  }
}

void Scheduler::answered() {
  if (measured_) measured_(metrics_);
  wake();
}

// What was said of it the last time is not said again.
void Scheduler::tell_of_config(const ObjectPtr& config_map, std::string_view reason,
                               std::set<std::string> messages) {
  for (const std::string& message : messages) {
    if (config_map != nullptr && !said_of_config_.contains(message))
      config_events_.warning(*config_map, std::string(reason), message);
  }
  said_of_config_ = std::move(messages);
}

void Scheduler::use_base_config(const std::string& text) {
  Result<Config> next = parse_base_config(text);
  if (!next) {
    ++metrics_.config_errors;
    log::error("scheduler.config.refused", {{"source", "base"}, {"why", next.error().message}});
    decide({"config", "refused", "", "", "", "", next.error().message});
    return;
  }
  base_config_ = *std::move(next);
  if (!config_is_mapped_) use_config(nullptr);
  wake();
}

void Scheduler::use_config(const ObjectPtr& config_map) {
  const ObjectView view(config_map);
  const auto text = string_at(view.document(), {"data", options_.config_key});
  Result<Config> next = text ? parse_config(*text) : Result<Config>(base_config_);
  if (!next) {
    ++metrics_.config_errors;
    log::error("scheduler.config.refused", {{"why", next.error().message}});
    // Another text is another refusal, though it may be wrong in the same way.
    if (refused_ != text) said_of_config_.clear();
    refused_.emplace(*text);
    tell_of_config(config_map, "InvalidSchedulerConfiguration",
                   {options_.config_key + ": " + next.error().message +
                    "; the last good configuration stays in force"});
    decide({"config", "refused", "", "", "", "", next.error().message});
    return;
  }
  config_ = *std::move(next);
  config_is_mapped_ = text.has_value();
  refused_.reset();
  adopt_fairshare();
  const std::vector<std::string> doubts = text ? pitfalls(config_) : std::vector<std::string>();
  for (const std::string& pitfall : doubts) {
    log::warn("scheduler.config.pitfall", {{"what", pitfall}});
    decide({"config", "pitfall", "", "", "", "", pitfall});
  }
  tell_of_config(config_map, "SchedulerConfigurationPitfall", {doubts.begin(), doubts.end()});
  cache_.note_help();
  report_all_ = true;
  log::info("scheduler.config",
            {{"source", text ? "configmap" : "base"}, {"actions", config_.actions.size()}});
  std::string actions;
  for (const ActionEntry* action : config_.actions)
    actions += (actions.empty() ? "" : ", ") + std::string(action->name);
  decide({"config", "loaded", "", "", "", "", "actions " + actions});
}

}  // namespace krater::scheduler
