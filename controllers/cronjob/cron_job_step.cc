#include "controllers/cronjob/cron_job_step.h"

#include <algorithm>

#include "base/cron_schedule.h"

namespace krater::controllers {
namespace {

using Concurrency = CronJobView::Concurrency;

constexpr std::int64_t kManyMissed = 100;

// The Job's schedule, unless it cannot be read.
struct Clock {
  CronSchedule schedule;
  TimeZone zone;
};

class Pass {
 public:
  Pass(const CronJobSeen& seen, WallTime now)
      : seen_(seen), cron_(seen.cron), words_(seen.kinds.words), now_(now) {
    for (const CronRun& run : seen_.jobs) {
      // Made by this controller, as opposed to `kubectl create job --from`.
      const bool scheduled = !run.job.annotation(seen_.kinds.scheduled_time).empty();
      if (scheduled && !run.finished()) active_.push_back(run);
    }
    std::ranges::sort(active_, {}, [](const CronRun& run) { return run->name(); });
    scheduled_ = cron_.last_scheduled();
  }

  Plan run() && {
    if (!cron_->deletion()) {
      clear_history(&CronRun::complete, cron_.successful_limit());
      clear_history(&CronRun::failed, cron_.failed_limit());
      start();
    }
    write_status();
    plan_.steps.push_back(std::move(removals_));
    return std::move(plan_);
  }

 private:
  std::optional<Clock> clock() {
    Clock out;
    if (const auto name = cron_.time_zone()) {
      const Result<TimeZone> zone = TimeZone::find(*name);
      if (!zone) {
        tell(words_.unknown_zone(*name, zone.error().message));
        return std::nullopt;
      }
      out.zone = *zone;
    } else {
      out.zone = TimeZone::local();
    }
    const Result<CronSchedule> schedule = CronSchedule::parse(cron_.schedule());
    if (!schedule) {
      tell(words_.unreadable(cron_.schedule(), schedule.error().message));
      return std::nullopt;
    }
    out.schedule = *schedule;
    return out;
  }

  // Moments up to here are past caring.
  WallTime looked_at_from() const {
    const WallTime from = scheduled_.value_or(cron_->created().value_or(now_));
    const auto deadline = cron_.starting_deadline_s();
    return deadline ? std::max(from, now_ - std::chrono::seconds(*deadline)) : from;
  }

  // The last moment of the schedule that no Job stands for, or nothing.
  std::optional<WallTime> due(const Clock& clock) {
    const WallTime from = looked_at_from();
    const std::optional<WallTime> first = clock.schedule.next(from, clock.zone);
    if (!first) {
      tell(words_.never_due(cron_.schedule()));
      return std::nullopt;
    }
    const std::optional<WallTime> moment = clock.schedule.latest(from, now_, clock.zone);
    if (moment && missed(clock, *first) > kManyMissed) tell(too_many_missed());
    return moment;
  }

  // Roughly: as many moments as fit, if all are as far apart as the first two.
  std::int64_t missed(const Clock& clock, WallTime first) const {
    const std::optional<WallTime> second = clock.schedule.next(first, clock.zone);
    if (!second || now_ < *second) return 0;
    return (now_ - first) / (*second - first) + 1;
  }

  void start() {
    if (cron_.suspended()) return;
    const std::optional<Clock> clock = this->clock();
    if (!clock) return;
    if (const auto next = clock->schedule.next(now_, clock->zone))
      plan_.outcome = Outcome::requeue_after(std::max(*next - now_, Duration(1ms)));
    const std::optional<WallTime> moment = due(*clock);
    if (!moment) return;
    if (!active_.empty() && cron_.concurrency() == Concurrency::Forbid) {
      tell(words_.forbidden());
      return;
    }
    if (cron_.concurrency() == Concurrency::Replace) replace_active();
    if (held_by_another(*moment)) return;
    plan_.then(create(*moment, clock->zone));
    scheduled_ = *moment;
  }

  bool held_by_another(WallTime moment) {
    const ObjectPtr holder = seen_.named(job_name(moment));
    if (holder == nullptr) return false;
    const OwnerReference* owner = holder->controller();
    if (owner != nullptr && owner->uid == cron_->uid()) return false;
    const std::optional<EventNote> note = words_.foreign(*holder);
    if (note) tell(*note);
    return note.has_value();
  }

  void replace_active() {
    if (active_.empty()) return;
    if (const auto note = words_.replaced()) tell(*note);
    std::vector<PlannedWrite> gone;
    for (const CronRun& job : active_) gone.push_back(remove(job));
    plan_.steps.push_back(std::move(gone));
    active_.clear();  // so nobody misses them
  }

  std::string job_name(WallTime moment) const {
    return cron_->name() + "-" + std::to_string(moment.unix_seconds() / 60);
  }

  PlannedWrite create(WallTime moment, const TimeZone& zone) const {
    const std::string name = job_name(moment);
    Json job = new_object(seen_.kinds.job, cron_->name_space(), name);
    const Json& wanted = cron_.job_template();
    for (const std::string_view field : {"labels", "annotations"}) {
      if (const Json* given = find(wanted, {"metadata", field}))
        set_path(job, {"metadata", field}, *given);
    }
    const std::int64_t offset = cron_.time_zone() ? zone.offset_s(moment) : 0;
    set_path(job, {"metadata", "annotations", seen_.kinds.scheduled_time},
             Json(to_rfc3339(moment, offset)));
    set_path(job, {"metadata", "ownerReferences"},
             JsonArray{controller_reference(*cron_.object())});
    const Json* spec = find(wanted, {"spec"});
    set_path(job, {"spec"}, spec == nullptr ? Json(boost::json::object_kind) : *spec);
    return {client::CreateWrite{seen_.kinds.job, cron_->name_space(), std::move(job)},
            Code::AlreadyExists, words_.created(cron_, name), words_.not_created()};
  }

  PlannedWrite remove(const CronRun& job) const {
    client::DeleteWrite write{seen_.kinds.job, job->name_space(), job->name(),
                              client::Propagation::Background};
    write.only_uid = job->uid();
    return {std::move(write), Code::NotFound, words_.deleted(job->name()),
            words_.not_deleted(job->name())};
  }

  void clear_history(bool CronRun::*ending, std::int64_t limit) {
    std::vector<CronRun> ended;
    for (const CronRun& job : seen_.jobs) {
      if (job.*ending && !job->deletion()) ended.push_back(job);
    }
    std::ranges::sort(ended, [](const CronRun& a, const CronRun& b) {
      const auto made_a = a->created(), made_b = b->created();
      return made_a == made_b ? a->name() < b->name() : made_a < made_b;
    });
    const std::ptrdiff_t surplus = std::ssize(ended) - limit;
    for (std::ptrdiff_t i = 0; i < surplus; ++i)
      removals_.push_back(remove(ended[static_cast<std::size_t>(i)]));
  }

  // Ends are told when they leave the list of active Jobs.
  void tell_ends() {
    const JsonArray* listed = array_at(cron_.document(), {"status", "active"});
    if (listed == nullptr) return;
    for (const Json& reference : *listed) {
      const std::string uid = text_at(reference, {"uid"});
      const auto job = std::ranges::find_if(
          seen_.jobs, [&](const CronRun& one) { return one->uid().text() == uid; });
      if (job == seen_.jobs.end()) {
        const std::string name = text_at(reference, {"name"});
        const ObjectPtr other = seen_.named(name);
        tell(words_.missing(name, uid, other == nullptr ? "" : other->uid().text()));
      } else if (job->finished()) {
        tell(words_.ended((*job)->name(), job->complete));
      }
    }
  }

  void tell_orphans() {
    for (const CronRun& job : seen_.jobs) {
      if (job.finished() || !job.job.annotation(seen_.kinds.scheduled_time).empty()) continue;
      if (const auto note = words_.orphan(*job.job.object())) tell(*note);
    }
  }

  void write_status() {
    tell_ends();
    tell_orphans();
    JsonObject status;
    JsonArray running;
    for (const CronRun& job : active_) {
      running.push_back(JsonObject{{"kind", "Job"},
                                   {"namespace", job->name_space()},
                                   {"name", job->name()},
                                   {"uid", job->uid().text()},
                                   {"apiVersion", seen_.kinds.job.api_version()},
                                   {"resourceVersion", job->revision().text()}});
    }
    // The revisions of the listed Jobs are those of when they were listed.
    if (const JsonArray* before = array_at(cron_.document(), {"status", "active"})) {
      for (Json& reference : running) {
        for (const Json& old : *before) {
          if (text_at(old, {"uid"}) == text_at(reference, {"uid"})) reference = old;
        }
      }
    }
    if (!running.empty()) status["active"] = std::move(running);
    if (scheduled_) status["lastScheduleTime"] = to_rfc3339(*scheduled_);
    if (const auto ended = last_success()) status["lastSuccessfulTime"] = to_rfc3339(*ended);
    const Json* before = find(cron_.document(), {"status"});
    if (before != nullptr ? *before == Json(status) : status.empty()) return;
    Json object = cron_.document();
    set_path(object, {"status"}, std::move(status));
    plan_.then({client::UpdateWrite{seen_.kinds.cron, cron_->name_space(), cron_->name(),
                                    std::move(object), "status"},
                {},
                {},
                {}});
  }

  std::optional<WallTime> last_success() const {
    std::optional<WallTime> out = cron_.last_successful();
    for (const CronRun& job : seen_.jobs) {
      if (job.complete && job.completed)
        out = std::max(out.value_or(*job.completed), *job.completed);
    }
    return out;
  }

  void tell(EventNote note) { plan_.events.push_back(std::move(note)); }

  const CronJobSeen& seen_;
  const CronJobView& cron_;
  const CronWords& words_;
  WallTime now_;
  std::vector<CronRun> active_{};
  std::optional<WallTime> scheduled_{};  // the last moment a Job stands for, after this pass
  std::vector<PlannedWrite> removals_{};
  Plan plan_{};
};

}  // namespace

Plan cron_job_step(const CronJobSeen& seen, WallTime now) {
  return Pass(seen, now).run();
}

}  // namespace krater::controllers
