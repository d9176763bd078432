// tdm: nodes that are there for batch work at certain hours only (label volcano.sh/revocable-zone;
// volcano.md 4.12). Within its hours a zone takes pods that may be revoked; when they are over,
// shuffle takes those back, a few of a job at a time. Hours are UTC.
#include <algorithm>
#include <map>

#include "base/int_or_percent.h"
#include "base/strings.h"
#include "model/volcano_job.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kMinAvailable = "volcano.sh/jdb-min-available";
constexpr std::string_view kMaxUnavailable = "volcano.sh/jdb-max-unavailable";

constexpr std::int64_t kDay = 24 * 60 * 60;

// Seconds of the day, both within; an end at or before the begin is on the next day.
struct Hours {
  std::string text;
  std::int64_t begin = 0, end = 0;
  bool hold(std::int64_t second) const {
    return begin < end ? begin <= second && second <= end : second >= begin || second <= end;
  }
};

std::optional<std::int64_t> time_of_day(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto hour = parse_int(text.substr(0, colon)), minute = parse_int(text.substr(colon + 1));
  if (!hour || !minute || *hour < 0 || *hour > 23 || *minute < 0 || *minute > 59)
    return std::nullopt;
  return (*hour * 60 + *minute) * 60;
}

std::optional<Hours> parse_hours(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = time_of_day(trim(text.substr(0, dash)));
  const auto end = time_of_day(trim(text.substr(dash + 1)));
  if (!begin || !end) return std::nullopt;
  return Hours{std::string(text), *begin, *end};
}

struct TdmArgs {
  std::map<std::string, Hours> zones{};
  Duration evict_period = std::chrono::minutes(1);
};

// Outlives sessions.
struct TdmMemory {
  std::optional<WallTime> evicted{};
};

std::string annotation_or_label(const ObjectPtr& object, std::string_view key) {
  const ObjectView seen(object);
  const std::string_view annotation = seen.annotation(key);
  return std::string(annotation.empty() ? object->label(key) : annotation);
}

bool yields(const JobInfo& job) {
  return job.group != nullptr && job.yields;
}

// How many running tasks of the job may go now, by its disruption budget.
std::int64_t budget_of(const JobInfo& job) {
  if (job.group == nullptr) return 1;
  const auto all = static_cast<std::int64_t>(job.tasks.size());
  const std::int64_t running = job.count(TaskStatus::Running);
  const auto amount = [&](std::string_view key) -> std::optional<std::int64_t> {
    const std::string text = annotation_or_label(job.group, key);
    if (text.empty()) return std::nullopt;
    if (const auto number = parse_int(text)) return *number;
    const Json given(text);
    return int_or_percent(&given, all, Rounding::Up).value_or(0);
  };
  if (const auto most = amount(kMaxUnavailable)) {
    const std::int64_t done = job.count(TaskStatus::Succeeded) + job.count(TaskStatus::Failed);
    return std::max<std::int64_t>(*most - (all - done - running), 0);
  }
  if (const auto least = amount(kMinAvailable); least && running >= *least) return running - *least;
  return 1;
}

class Tdm final : public Plugin,
                  public TaskFilterHook,
                  public TaskScoreHook,
                  public PreemptableHook,
                  public VictimTasksHook,
                  public JobOrderHook,
                  public JobPipelinedHook,
                  public JobStarvingHook {
 public:
  Tdm(const TdmArgs& args, TdmMemory& memory) : args_(args), memory_(memory) {}

  void open(const Session& session) override {
    second_ = (session.now().unix_seconds() % kDay + kDay) % kDay;
    for (const NodeSlot slot : session.node_order())
      zoned_ = zoned_ || zone_of(session, slot) != nullptr;
  }
  // Time alone opens zones.
  void close(Session& session) override {
    const std::int64_t midnight = session.now().unix_seconds() - second_;
    for (const auto& [zone, hours] : args_.zones) {
      if (!zoned_ || hours.hold(second_)) continue;
      session.look_again(
          WallTime::from_unix_seconds(midnight + hours.begin + (hours.begin < second_ ? kDay : 0)));
    }
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    if (!zoned_) return {};
    return {session.task(task).spec->revocable ? "revocable" : "steady"};
  }
  std::string reject_task(const Session& session, TaskRef task, NodeSlot node,
                          bool) const override {
    const std::string* zone = zone_of(session, node);
    if (zone == nullptr) return {};
    if (std::string closed = closed_reason(*zone); !closed.empty()) return closed;
    if (!session.task(task).spec->revocable) return "not allow to dispatch to revocable node";
    return {};
  }
  std::int64_t score_task(const Session& session, TaskRef, NodeSlot node) const override {
    return zone_of(session, node) != nullptr ? 100 * kPoint : 0;
  }

  // Who can go to a zone takes nobody's place; others take places of preemptable pods on steady
  // nodes.
  std::optional<TaskRefs> preemptable(const Session& session, TaskRef claimant,
                                      const TaskRefs& candidates) const override {
    TaskRefs out;
    const TaskSpec& task = *session.task(claimant).spec;
    if (task.preemptable || task.revocable) return out;
    std::map<JobId, std::int64_t> left;
    for (const TaskRef& one : candidates) {
      const Task& victim = session.task(one);
      if (!victim.spec->preemptable || victim.status != TaskStatus::Running ||
          zone_of(session, victim.node) != nullptr) {
        continue;
      }
      std::int64_t& budget =
          left.try_emplace(one.job, budget_of(session.job(one.job))).first->second;
      if (budget-- > 0) out.push_back(one);
    }
    return out;
  }

  bool due(const Session& session) const override {
    return zoned_ && (!memory_.evicted || *memory_.evicted + args_.evict_period <= session.now());
  }
  TaskRefs victim_tasks(const Session& session) override {
    memory_.evicted = session.now();
    TaskRefs out;
    std::map<JobId, std::int64_t> left;
    for (const NodeSlot slot : session.node_order()) {
      const std::string* zone = zone_of(session, slot);
      // A zone that is configured nowhere is nobody's to clear.
      if (zone == nullptr || !args_.zones.contains(*zone) || closed_reason(*zone).empty()) continue;
      for (const TaskRef& one : session.residents(slot)) {
        const Task& task = session.task(one);
        if (!task.spec->preemptable || task.status != TaskStatus::Running) continue;
        std::int64_t& budget =
            left.try_emplace(one.job, budget_of(session.job(one.job))).first->second;
        if (budget-- > 0) out.push_back(one);
      }
    }
    return out;
  }

  // A zone is to be cleared, unless the group says how many of it may be missing.
  bool gang_may_go(const JobInfo& job) const override {
    return job.group != nullptr && annotation_or_label(job.group, kMaxUnavailable).empty() &&
           annotation_or_label(job.group, kMinAvailable).empty();
  }

  int job_order(const Session& session, JobId a, JobId b) const override {
    const bool left = yields(session.job(a)), right = yields(session.job(b));
    return left == right ? 0 : left ? 1 : -1;
  }
  Vote job_pipelined(const JobInfo& job) const override {
    return job.is_pipelined() ? Vote::Permit : Vote::Reject;
  }
  bool job_starving(const JobInfo& job) const override {
    return !yields(job) && job.count(TaskStatus::Pending) > 0;
  }

 private:
  static const std::string* zone_of(const Session& session, NodeSlot node) {
    const Labels& labels = session.node(node).spec->labels;
    const auto place = labels.find(keys::kRevocableZone);
    return place == labels.end() || place->second.empty() ? nullptr : &place->second;
  }
  std::string closed_reason(const std::string& zone) const {
    const auto hours = args_.zones.find(zone);
    if (hours == args_.zones.end()) return "revocable zone " + zone + " not support";
    if (hours->second.hold(second_)) return {};
    return "current time beyond revocable zone " + zone + ":" + hours->second.text;
  }

  const TdmArgs& args_;
  TdmMemory& memory_;
  std::int64_t second_ = 0;
  bool zoned_ = false;
};

}  // namespace

Result<PluginFactory> configure_tdm(Arguments& arguments, const EnableFlags& flags) {
  const auto args = std::make_shared<TdmArgs>();
  constexpr std::string_view kPrefix = "tdm.revocable-zone.";
  TRY_ASSIGN(const auto zones, arguments.strings_after(kPrefix));
  for (const auto& [zone, text] : zones) {
    const std::optional<Hours> hours = parse_hours(text);
    if (!hours) {
      return make_error(Code::Invalid, "argument \"" + std::string(kPrefix) + zone +
                                           "\" must be hours such as 10:00-21:00, not \"" + text +
                                           "\"");
    }
    args->zones.emplace(zone, *hours);
  }
  TRY_ASSIGN(const std::string period, arguments.string("tdm.evict.period", "1m"));
  const std::optional<Duration> parsed = parse_go_duration(period);
  if (!parsed || *parsed <= Duration(0))
    return make_error(Code::Invalid, "argument \"tdm.evict.period\" must be a time such as 1m");
  args->evict_period = *parsed;
  const auto memory = std::make_shared<TdmMemory>();
  return PluginFactory([args, memory](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Tdm>(*args, *memory), enabled);
  });
}

}  // namespace krater::scheduler
