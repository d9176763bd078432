#include "scheduler/scheduler.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "scheduler/eviction_writes.h"
#include "scheduler/explain.h"

namespace krater::scheduler {
namespace {

constexpr Duration kTimeForAnother = std::chrono::seconds(1);
constexpr Duration kFirstBackoff = std::chrono::milliseconds(10);
constexpr Duration kLastBackoff = std::chrono::seconds(10);
constexpr std::size_t kBindsATurn = 500;  // pods, in one turn of the loop, or one gang
// Between cycles, so that one of them takes in what came with a burst: this many times what the
// last one took, but no more than the limit.
constexpr int kPausePerCycle = 4;
constexpr Duration kPauseLimit = std::chrono::milliseconds(50);

// For words that come as often as somebody writes something else.
constexpr client::EventRecorder::Limits kAllEvents{
    256, std::numeric_limits<int>::max(), {}, std::numeric_limits<std::size_t>::max(), {}};

// "cpu=4,memory=8Gi"; places for pods are counted as pods.
std::string asks_text(const ResourceList& sum) {
  std::string out;
  for (const auto& [name, amount] : sum.amounts()) {
    if (name == resources::kPods) continue;
    out += (out.empty() ? "" : ",") + name + "=" + resource_text(name, amount);
  }
  return out;
}

Duration backoff_after(int failures) {
  Duration out = kFirstBackoff;
  for (int i = 1; i < failures && out < kLastBackoff; ++i) out *= 2;
  return std::min(out, kLastBackoff);
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
      cache_({options_.scheduler_names, options_.default_queue}),
      feed_(client_, cache_,
            {[this] { wake(); }, [this](const ObjectPtr& map) { use_config(map); }}),
      statuses_(
          client_, loop_, clock_, events_,
          [this](const TaskSpec& task) { return cache_.pending_task(task); }, options_.pace),
      queues_(client_, cache_, loop_),
      gates_(client_),
      fairshare_(client_, loop_, clock_, config_events_, cache_.fairshare(), [this] {
        cache_.note_help();
        wake();
      }) {}

Scheduler::~Scheduler() {
  stop();
  *alive_ = false;
}

Result<void> Scheduler::start() {
  CHECK(loop_.on_loop_thread() && !started_);
  TRY_ASSIGN(base_config_, parse_config(options_.config_text.empty() ? default_config_text()
                                                                     : options_.config_text));
  config_ = base_config_;
  started_ = true;
  parked_since_ = cycle_began_ = loop_.now();
  adopt_fairshare();
  feed_.start({options_.config_namespace, options_.config_name}, options_.served);
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

// Once as long as the reason is the same; figures change all the time.
void Scheduler::tell_waiting(const JobReport& report) {
  if (!report.unsatisfied || report.why_code.empty()) {
    told_waiting_.erase(report.key);
    return;
  }
  std::string& told = told_waiting_[report.key];
  if (told == report.why_code) return;
  told = std::string(report.why_code);
  const bool refused = !report.refusal.empty();
  std::string reason = report.refusal;
  if (!refused) {
    const PodGroupCondition* condition =
        report.status ? report.status->condition("Unschedulable") : nullptr;
    if (condition != nullptr && condition->status == "True") {
      reason = condition->message;
    } else if (!report.waiting.empty()) {
      reason = report.waiting.front().message;
    }
  }
  decide({refused ? "enqueue" : "allocate", refused ? "refused" : "waits", report.queue.text(),
          report.key.text(), std::to_string(report.waiting.size()), "",
          std::string(report.why_code) + ": " + reason});
}

bool Scheduler::quiet() const {
  return cycle_timer_ == 0 && binding_.empty() && statuses_.pending() == 0;
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
    parked_.clear();
    parked_since_ = loop_.now();
  }
  shuffle_due_ = config_.has_action("shuffle");
  if (metrics_.waiting_jobs > parked_.size() || shuffle_due_) wake();
  cache_.fairshare().set_time(loop_.now());
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
  const auto backoff = backoffs_.find(job.key);
  if (backoff != backoffs_.end() && backoff->second.until > loop_.now()) return true;
  // Where order is kept, those in front are asked whenever those behind them are.
  const QueueInfo* queue = cache_.queue(job.queue);
  if (queue != nullptr && queue->fifo && config_.behaviors.strict_fifo) return false;
  const auto parked = parked_.find(job.key);
  return parked != parked_.end() && parked->second.version == job.version &&
         parked->second.help == cache_.help() &&
         !(parked->second.again && *parked->second.again <= clock_.now());
}

bool Scheduler::pods_overdue(const JobKey& job) const {
  const auto since = bare_since_.find(job);
  return since != bare_since_.end() && since->second + options_.pods_within <= clock_.now();
}

void Scheduler::park(const JobReport& report, std::uint64_t help,
                     std::map<JobKey, Parked>& parked) {
  if (!report.bare) {
    bare_since_.erase(report.key);
    if (report.can_park) parked.emplace(report.key, Parked{report.version, help, report.again});
    return;
  }
  const WallTime due =
      bare_since_.try_emplace(report.key, clock_.now()).first->second + options_.pods_within;
  const std::optional<WallTime> again = report.unsatisfied ? std::nullopt : std::optional(due);
  parked.emplace(report.key, Parked{report.version, help, again});
}

void Scheduler::forget_those_who_left() {
  for (auto& [job, victims] : leaving_for_)
    std::erase_if(victims, [this](const TaskSpecPtr& one) { return !cache_.leaving(*one); });
  std::erase_if(leaving_for_, [](const auto& entry) { return entry.second.empty(); });
}

// Wakes for the first of those who are parked until a certain time.
void Scheduler::await_time() {
  loop_.cancel(std::exchange(parked_timer_, 0));
  std::optional<WallTime> first;
  for (const auto& [key, place] : parked_) {
    if (place.again && (!first || *place.again < *first)) first = place.again;
  }
  if (!first) return;
  parked_timer_ = loop_.after(std::max(*first - clock_.now(), Duration(0)), [this] {
    parked_timer_ = 0;
    time_came_ = true;
    wake();
  });
}

void Scheduler::run_cycle() {
  cache_.fairshare().set_time(loop_.now());
  if (fairshare_.has_news()) {
    cache_.queue_sums();
    fairshare_.load();
  }
  // Heartbeats and our own writes come by here as well.
  const bool tried = metrics_.waiting_jobs <= parked_.size() && !std::exchange(time_came_, false);
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
    forget_those_who_left();
    Snapshot snapshot = cache_.snapshot(all ? Scope::All : Scope::Open);
    snapshot.leaving_for = [this](const JobKey& job) {
      const auto known = leaving_for_.find(job);
      return known == leaving_for_.end() ? std::vector<TaskSpecPtr>() : known->second;
    };
    Session session(
        std::move(snapshot), config_, rng_.uuid(), clock_.now(),
        [this](const JobInfo& job) { return left_alone(job); }, extender_);
    for (const ActionEntry* action : config_.actions) {
      session.begin(action->name);
      action->execute(session);
    }
    session.close();
    binds = gang_binds(session);
    evictions = gang_evictions(session);
    for (const TaskRef& one : session.lifted_gates())
      let_go.emplace_back(session.task(one).spec, session.job(one.job).queue);
    for (const GangBind& gang : binds) ++binding_[gang.job];
    tell_of_hollow_guarantees(session);
    take_reports(session, cache_.take_changed_jobs(), all);
  }
  for (GangBind& gang : binds) bind(std::move(gang));
  for (const GangEviction& one : evictions) evict(one);
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
  if (measured_) measured_(metrics_);
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

// Whoever lost a member is mostly given another at once: only who lacks it for as long as a cycle
// of Volcano's is told to have lost it.
bool Scheduler::gives_time(const JobReport& report, PodGroupPhase before) {
  const bool lost = config_.behaviors.lost_members_may_be_replaced && report.incomplete &&
                    before == PodGroupPhase::Running && report.status &&
                    report.status->phase == PodGroupPhase::Unknown;
  if (!lost) {
    incomplete_.erase(report.key);
    return false;
  }
  const auto [since, fresh] = incomplete_.try_emplace(report.key, loop_.now());
  if (fresh) {
    loop_.after(kTimeForAnother, [this, alive = alive_, key = report.key] {
      if (!*alive || !incomplete_.contains(key)) return;
      cache_.look_at(key);
      wake();
    });
  }
  return loop_.now() - since->second < kTimeForAnother;
}

void Scheduler::take_reports(const Session& session, const std::set<JobKey>& changed, bool all) {
  for (const JobKey& key : changed) {
    if (cache_.job(key) != nullptr) continue;
    statuses_.drop(key);
    told_waiting_.erase(key);
    incomplete_.erase(key);
    bare_since_.erase(key);
  }
  std::map<JobKey, Parked> parked;
  std::size_t waiting = 0;
  for (JobId id = 0; id < session.job_count(); ++id) {
    if (!session.parked(id) || !session.job(id).open()) continue;
    ++waiting;
    const auto place = parked_.find(session.job(id).key);
    if (place != parked_.end()) parked.insert(*place);
  }
  for (JobReport& one : report(
           session, [&](const JobKey& key) { return all || changed.contains(key); },
           [this](const JobKey& key) { return pods_overdue(key); })) {
    if (one.unsatisfied || one.bare) ++waiting;
    park(one, session.help(), parked);
    const JobInfo* before = cache_.job(one.key);
    if (before != nullptr && gives_time(one, before->phase)) one.status.reset();
    if (one.status) {
      if (before != nullptr && before->phase != one.status->phase) {
        log::info("scheduler.phase", {{"job", one.key.text()},
                                      {"from", to_text(before->phase)},
                                      {"to", to_text(one.status->phase)},
                                      {"queue", before->queue}});
        if (before->phase == PodGroupPhase::Pending &&
            one.status->phase == PodGroupPhase::Inqueue) {
          decide({"enqueue", "admitted", before->queue.text(), one.key.text()});
        }
        if (one.status->phase == PodGroupPhase::Completed)
          decide({"close", "completed", before->queue.text(), one.key.text()});
      }
      cache_.set_phase(one.key, one.status->phase);
    }
    // What it no longer holds back may admit another job.
    if (cache_.set_fragmented(one.key, one.fragmented)) wake();
    if (!one.refusal.empty()) {
      log::debug("scheduler.refused",
                 {{"action", "enqueue"}, {"job", one.key.text()}, {"why", one.refusal}});
    }
    const bool held = binding_.contains(one.key);
    if (!held) tell_waiting(one);
    statuses_.take(std::move(one), held);
  }
  parked_ = std::move(parked);
  await_time();
  metrics_.waiting_jobs = waiting;
  metrics_.parked_jobs = parked_.size();
}

Result<std::vector<client::Write>> Scheduler::volume_writes(const GangBind& gang) const {
  std::vector<client::Write> out;
  std::set<std::string> taken;
  for (const GangBind::Member& member : gang.members) {
    const auto& claims = member.task->shape->claims;
    const NodeInfo* node = cache_.node(member.slot);
    if (claims.empty() || node == nullptr || node->spec == nullptr) continue;
    TRY_ASSIGN(std::vector<client::Write> more,
               cache_.volumes().choices(claims, {node->name, node->spec->labels}, taken));
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  return out;
}

void Scheduler::bind(GangBind gang) {
  for (const GangBind::Member& member : gang.members) {
    const bool assumed =
        cache_.assume(gang.job, member.task->name(), member.task->pod->uid(), member.slot);
    CHECK(assumed);  // nothing ran since the snapshot
  }
  to_bind_.push_back(std::move(gang));
  write_binds_later();
}

// A hundred large gangs at once take seconds to prepare: meanwhile the loop has other work, and may
// be stopped.
void Scheduler::write_binds_later() {
  if (to_bind_.empty() || std::exchange(binds_posted_, true)) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    binds_posted_ = false;
    for (std::size_t pods = 0; pods < kBindsATurn && !to_bind_.empty();) {
      const GangBind gang = std::move(to_bind_.front());
      to_bind_.pop_front();
      pods += gang.members.size();
      write_bind(gang);
    }
    write_binds_later();
  });
}

void Scheduler::write_bind(const GangBind& gang) {
  std::vector<client::Write> writes;
  for (const GangBind::Member& member : gang.members) {
    writes.emplace_back(client::BindWrite{member.task->name_space(), member.task->name(),
                                          member.task->pod->uid(), NodeName(member.node),
                                          member.annotations});
  }
  // The volumes of all are settled with their nodes, or nobody starts.
  Result<std::vector<client::Write>> volumes = volume_writes(gang);
  if (!volumes) {
    if (--binding_[gang.job] == 0) binding_.erase(gang.job);
    return not_bound(gang, volumes.error());
  }
  std::move(volumes->begin(), volumes->end(), std::back_inserter(writes));
  log::info("scheduler.bind", {{"job", gang.job.text()}, {"pods", gang.members.size()}});
  client_.transact(std::move(writes),
                   [this, alive = alive_, gang](const Result<std::vector<ObjectPtr>>& done) {
                     if (!*alive) return;
                     if (--binding_[gang.job] == 0) binding_.erase(gang.job);
                     if (done) {
                       bound(gang, *done);
                     } else {
                       not_bound(gang, done.error());
                     }
                     if (measured_) measured_(metrics_);
                     wake();
                   });
}

void Scheduler::bound(const GangBind& gang, const std::vector<ObjectPtr>& written) {
  backoffs_.erase(gang.job);
  metrics_.binds += gang.members.size();
  told_waiting_.erase(gang.job);
  std::set<std::string> nodes;
  Resource sum;
  for (const GangBind::Member& member : gang.members) {
    nodes.insert(member.node);
    sum += member.task->shape->request;
  }
  decide({gang.action, "bound", gang.queue.text(), gang.job.text(),
          std::to_string(gang.members.size()), "",
          "to " + std::to_string(nodes.size()) +
              (nodes.size() == 1 ? " node: " : " nodes, the first: ") + *nodes.begin(),
          asks_text(sum.to_list(cache_.names()))});
  // Who runs now may have to go for somebody who waits.
  for (const std::string_view action : {"preempt", "reclaim", "gangpreempt", "gangreclaim"}) {
    if (config_.has_action(action)) cache_.note_help();
  }
  // The answer may be ahead of the watch.
  for (std::size_t i = 0; i < gang.members.size(); ++i) cache_.set_pod(written[i]);
  for (const GangBind::Member& member : gang.members) {
    events_.normal(*member.task->pod, "Scheduled",
                   "Successfully assigned " + member.task->name_space() + "/" +
                       member.task->name() + " to " + member.node);
  }
}

void Scheduler::not_bound(const GangBind& gang, const Error& why) {
  ++metrics_.bind_failures;
  log::warn("scheduler.bind.failed", {{"job", gang.job.text()}, {"why", why.message}});
  decide({gang.action, "failed", gang.queue.text(), gang.job.text(),
          std::to_string(gang.members.size()), "", why.message});
  for (const GangBind::Member& member : gang.members) {
    cache_.forget(gang.job, member.task->name(), member.task->pod->uid());
  }
  retry_after_failure(gang.job);
  // One failure is a race with somebody else's change; more of them are worth a word.
  if (backoffs_[gang.job].failures > 1) {
    for (const GangBind::Member& member : gang.members)
      statuses_.bind_failed(member.task, why.message);
  }
}

void Scheduler::retry_after_failure(const JobKey& job) {
  Backoff& backoff = backoffs_[job];
  const Duration pause = backoff_after(++backoff.failures);
  backoff.until = loop_.now() + pause;
  loop_.after(pause, [this, alive = alive_] {
    if (*alive) wake();
  });
}

void Scheduler::evict(const GangEviction& eviction) {
  for (const GangEviction::Victim& victim : eviction.victims) {
    const TaskSpec& task = *victim.task;
    const bool assumed = cache_.assume_evicted(task.job, task.name(), task.pod->uid());
    CHECK(assumed);  // nothing ran since the snapshot
    if (eviction.action != "shuffle") leaving_for_[eviction.claimant].push_back(victim.task);
    log::info("scheduler.evict", {{"action", eviction.action},
                                  {"pod", task.name_space() + "/" + task.name()},
                                  {"job", task.job.text()},
                                  {"for", eviction.claimant.text()},
                                  {"queue", eviction.queue}});
    decide({eviction.action, "evicted", eviction.queue.text(), task.job.text(),
            task.name_space() + "/" + task.name(), eviction.claimant.text(),
            eviction_text(eviction)});
  }
  client_.transact(eviction_writes(eviction, clock_.now()),
                   [this, alive = alive_, eviction](const Result<std::vector<ObjectPtr>>& done) {
                     if (!*alive) return;
                     if (done) {
                       evicted(eviction);
                     } else {
                       not_evicted(eviction, done.error());
                     }
                     if (measured_) measured_(metrics_);
                     wake();
                   });
}

void Scheduler::evicted(const GangEviction& eviction) {
  metrics_.evictions += eviction.victims.size();
  const std::string text = eviction_text(eviction);
  for (const GangEviction::Victim& victim : eviction.victims) {
    events_.warning(*victim.task->pod, "Evict", text);
    if (victim.group != nullptr) events_.normal(*victim.group, "Evict", text);
  }
}

void Scheduler::not_evicted(const GangEviction& eviction, const Error& why) {
  ++metrics_.eviction_failures;
  log::warn("scheduler.evict.failed", {{"for", eviction.claimant.text()}, {"why", why.message}});
  decide({eviction.action, "failed", eviction.queue.text(), "",
          std::to_string(eviction.victims.size()), eviction.claimant.text(), why.message});
  for (const GangEviction::Victim& victim : eviction.victims) {
    const TaskSpec& task = *victim.task;
    cache_.forget_eviction(task.job, task.name(), task.pod->uid());
  }
  retry_after_failure(eviction.claimant);
}

// What was said of it the last time is not said again.
void Scheduler::tell_of_config(const Object& config_map, std::string_view reason,
                               std::set<std::string> messages) {
  for (const std::string& message : messages) {
    if (!said_of_config_.contains(message))
      config_events_.warning(config_map, std::string(reason), message);
  }
  said_of_config_ = std::move(messages);
}

void Scheduler::use_config(const ObjectPtr& config_map) {
  const ObjectView view(config_map);
  const auto text = string_at(view.document(), {"data", options_.config_key});
  Result<Config> next = text ? parse_config(*text) : Result<Config>(base_config_);
  if (!next) {
    ++metrics_.config_errors;
    log::error("scheduler.config.refused", {{"why", next.error().message}});
    tell_of_config(*config_map, "InvalidSchedulerConfiguration",
                   {options_.config_key + ": " + next.error().message +
                    "; the last good configuration stays in force"});
    decide({"config", "refused", "", "", "", "", next.error().message});
    return;
  }
  config_ = *std::move(next);
  adopt_fairshare();
  const std::vector<std::string> doubts = text ? pitfalls(config_) : std::vector<std::string>();
  for (const std::string& pitfall : doubts) {
    log::warn("scheduler.config.pitfall", {{"what", pitfall}});
    decide({"config", "pitfall", "", "", "", "", pitfall});
  }
  tell_of_config(*config_map, "SchedulerConfigurationPitfall", {doubts.begin(), doubts.end()});
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
