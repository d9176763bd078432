#include "scheduler/status_writer.h"

#include <algorithm>

#include "base/log.h"
#include "scheduler/why.h"
#include "scheduler/words.h"

namespace krater::scheduler {
namespace {

// Phase and counts without the conditions: what must not wait.
bool same_numbers(const PodGroupStatus& a, const PodGroupStatus& b) {
  return a.phase == b.phase && a.running == b.running && a.succeeded == b.succeeded &&
         a.failed == b.failed;
}

bool is_waiting(PodGroupPhase phase) {
  return phase == PodGroupPhase::Pending || phase == PodGroupPhase::Inqueue ||
         phase == PodGroupPhase::Unknown;
}

Json not_scheduled(const Said& what, bool promise_is_void, WallTime now) {
  JsonObject condition;
  condition["type"] = "PodScheduled";
  condition["status"] = "False";
  condition["lastProbeTime"] = nullptr;
  condition["lastTransitionTime"] = to_rfc3339(now);
  condition["reason"] = what.reason;
  condition["message"] = what.message;
  JsonObject status, patch;
  status["conditions"] = JsonArray{std::move(condition)};
  if (promise_is_void) status["nominatedNodeName"] = nullptr;
  patch["status"] = std::move(status);
  return patch;
}

// Whether the pod's condition reads so already.
bool says(const TaskSpec& task, const Said& what) {
  const auto stored = PodView(task.pod).condition("PodScheduled");
  return stored && stored->status == "False" && stored->reason == what.reason &&
         stored->message == what.message;
}

}  // namespace

StatusWriter::StatusWriter(client::ObjectClient& client, Loop& loop, const WallClock& clock,
                           client::EventRecorder& events, Newest newest, Pace pace)
    : client_(client),
      loop_(loop),
      clock_(clock),
      events_(events),
      newest_(std::move(newest)),
      pace_(pace) {}

void StatusWriter::stop() {
  *alive_ = false;
  for (const auto& [key, record] : records_) {
    if (record.timer != 0) loop_.cancel(record.timer);
  }
  records_.clear();
  ready_.clear();
}

void StatusWriter::take(JobReport report, bool held) {
  const JobKey key = report.key;
  if (!report.group && report.waiting.empty()) return drop(key);
  const auto [place, fresh] = records_.try_emplace(key);
  Record& record = place->second;
  const bool waited = !fresh && record.report.unsatisfied;
  const bool grew = record.report.version != report.version;
  const bool gathered = record.report.gathering;
  const bool ran_soon = about_to_run(record);
  record.report = std::move(report);
  record.held = held;
  if (record.report.group && !record.writing &&
      record.report.group->revision() > record.stored_at) {
    const PodGroupView group(record.report.group);
    record.stored = group.status();
    record.stored_why = std::string(group.annotation(kWhyPending));
    record.stored_hyper_node = std::string(group.annotation(kAllocatedHyperNode));
    record.stored_at = record.report.group->revision();
  }
  if (!about_to_run(record))
    record.phase_due = {};
  else if (!ran_soon)
    record.phase_due = loop_.now() + pace_.running_after;
  // A state has to last a moment before it is put into words.
  const SteadyTime in_a_moment = loop_.now() + pace_.words_after;
  if (!waited) record.words_due = std::max(record.words_due, in_a_moment);
  if (record.report.gathering && !gathered) record.gathers_since = loop_.now();
  if (record.report.gathering && grew &&
      loop_.now() - record.gathers_since < pace_.gathering_at_most)
    record.words_due = std::max(record.words_due, in_a_moment);
  look(key, record);
}

void StatusWriter::drop(const JobKey& key) {
  const auto place = records_.find(key);
  if (place == records_.end()) return;
  if (place->second.timer != 0) loop_.cancel(place->second.timer);
  records_.erase(place);
}

bool StatusWriter::pods_news(const Record& record) const {
  for (const PodReason& pod : record.report.waiting) {
    const auto told = record.told_pods.find(pod.task->pod->uid().text());
    if (told == record.told_pods.end() || told->second.condition != Said{pod.reason, pod.message} ||
        told->second.promise_is_void != pod.promise_is_void)
      return true;
  }
  return false;
}

bool StatusWriter::group_news(const Record& record) {
  const auto& status = record.report.status;
  return status && (!status->same_news(record.stored) || record.report.why != record.stored_why ||
                    record.report.hyper_node != record.stored_hyper_node);
}

// Enough of it has nodes, and not all of that runs there yet.
bool StatusWriter::about_to_run(const Record& record) {
  return record.report.status && record.report.starting &&
         record.report.status->phase == PodGroupPhase::Running &&
         record.stored.phase != PodGroupPhase::Running;
}

void StatusWriter::look(const JobKey& key, Record& record) {
  if (record.held || record.writing) return;
  if (record.phase_due > loop_.now()) return look_again(key, record, record.phase_due);
  const auto& status = record.report.status;
  if (status && !same_numbers(*status, record.stored)) {
    if (status->phase != record.stored.phase || record.numbers_due <= loop_.now())
      return queue(key, record);
    look_again(key, record, record.numbers_due);
  }
  const bool words = group_news(record) || pods_news(record);
  const std::optional<SteadyTime> event = events_due(record);
  if (!words && event && *event > loop_.now()) return look_again(key, record, *event);
  if (!words && !event) return;
  if (!record.report.unsatisfied && record.numbers_due <= loop_.now()) return queue(key, record);
  if (record.report.unsatisfied && record.words_due <= loop_.now()) return queue(key, record);
  look_again(key, record, record.report.unsatisfied ? record.words_due : record.numbers_due);
}

void StatusWriter::look_again(const JobKey& key, Record& record, SteadyTime when) {
  if (record.timer != 0 && record.timer_due <= when) return;
  loop_.cancel(record.timer);
  record.timer_due = when;
  record.timer = loop_.after(when - loop_.now(), [this, key] {
    const auto place = records_.find(key);
    if (place == records_.end()) return;
    place->second.timer = 0;
    look(key, place->second);
  });
}

void StatusWriter::queue(const JobKey& key, Record& record) {
  if (record.queued) return;
  record.queued = true;
  ready_.push_back(key);
  drain();
}

void StatusWriter::drain() {
  while (!ready_.empty() && in_flight_ < pace_.in_flight) {
    const JobKey key = ready_.front();
    ready_.pop_front();
    const auto place = records_.find(key);
    if (place == records_.end()) continue;
    Record& record = place->second;
    record.queued = false;
    if (record.held || record.writing) continue;
    // Only waiting has figures that keep changing.
    const bool words = !record.report.unsatisfied || record.words_due <= loop_.now();
    if (words) {
      record.words_due = loop_.now() + pace_.words_again;
      tell(record);
      write_pods(key, record);
    }
    if (record.report.status)
      write_group(key, record, words);
    else
      look(key, record);
  }
}

void StatusWriter::write_group(const JobKey& key, Record& record, bool words) {
  PodGroupStatus next = *record.report.status;
  // Not yet time for new words: the phase goes out with the old ones.
  if (!words) next.conditions = record.stored.conditions;
  const std::string why = words ? record.report.why : record.stored_why;
  const std::string hyper_node = words ? record.report.hyper_node : record.stored_hyper_node;
  if (next.same_news(record.stored) && why == record.stored_why &&
      hyper_node == record.stored_hyper_node) {
    return look(key, record);
  }
  Json patch(boost::json::object_kind);
  patch.get_object()["status"] = next.to_json_value(/*nulls=*/true);
  // Not of a successor of the same name.
  set_path(patch, {"metadata", "uid"}, Json(record.report.group->uid().text()));
  if (why != record.stored_why)
    set_path(patch, {"metadata", "annotations", kWhyPending}, why.empty() ? Json() : Json(why));
  if (hyper_node != record.stored_hyper_node) {
    set_path(patch, {"metadata", "annotations", kAllocatedHyperNode},
             hyper_node.empty() ? Json() : Json(hyper_node));
  }
  record.writing = true;
  record.numbers_due = loop_.now() + pace_.numbers_again;
  ++in_flight_;
  log::debug("scheduler.status", {{"job", key.text()}, {"phase", to_text(next.phase)}});
  client_.write(client::PatchWrite{kinds::kPodGroup, key.name_space, key.name,
                                   client::PatchType::Merge, std::move(patch)},
                [this, alive = alive_, key, next, why, hyper_node](const Result<ObjectPtr>& done) {
                  if (!*alive) return;
                  --in_flight_;
                  const auto place = records_.find(key);
                  if (place == records_.end()) return drain();
                  Record& mine = place->second;
                  mine.writing = false;
                  if (done) {
                    mine.stored = next;
                    mine.stored_why = why;
                    mine.stored_hyper_node = hyper_node;
                    mine.stored_at = (*done)->revision();
                    look(key, mine);
                  } else if (done.error().code != Code::NotFound) {
                    log::warn("scheduler.status.failed",
                              {{"job", key.text()}, {"why", done.error().message}});
                    retry_later(key);
                  }
                  drain();
                });
}

void StatusWriter::retry_later(const JobKey& key) {
  loop_.after(pace_.retry_after, [this, alive = alive_, key] {
    if (!*alive) return;
    const auto place = records_.find(key);
    if (place != records_.end()) look(key, place->second);
  });
}

void StatusWriter::write_pods(const JobKey& key, Record& record) {
  std::map<std::string, PodTold> before = std::move(record.told_pods);
  record.told_pods.clear();
  bool anew = false, again = false;
  for (const PodReason& pod : record.report.waiting) {
    const std::string uid = pod.task->pod->uid().text();
    PodTold& told = record.told_pods[uid];
    if (const auto place = before.find(uid); place != before.end()) told = std::move(place->second);
    const Said now{pod.reason, pod.message};
    const bool news = told.condition != now || told.promise_is_void != pod.promise_is_void;
    told.condition = now;
    told.promise_is_void = pod.promise_is_void;
    if (!news && told.event == now) continue;
    const TaskSpecPtr newest = newest_(*pod.task);
    const bool known = newest == nullptr || says(*newest, now);
    const bool promised = pod.promise_is_void && newest != nullptr && !newest->nominated.empty();
    if (news && (!known || promised)) write_pod(key, *newest, now, promised);
    // Whoever was here before has told it.
    if (known && told.event.reason.empty()) told.event = now;
    const bool same_reason = told.event.reason == now.reason;
    if (told.event == now || (same_reason && record.pod_events.due > loop_.now())) continue;
    (same_reason ? again : anew) = true;
    told.event = now;
    if (newest != nullptr) tell_pod(*newest, now);
  }
  if (anew || again) told_at_last(record.pod_events, !again);
}

// One event for each pod, whose figures are kept up as long as it waits.
void StatusWriter::tell_pod(const TaskSpec& newest, const Said& what) {
  events_.keep_current(*newest.pod, client::EventType::Warning, "FailedScheduling", what.message);
}

void StatusWriter::told_at_last(Beat& beat, bool anew) const {
  beat.pause = anew ? pace_.event_again
                    : std::min(2 * std::max(beat.pause, pace_.event_again), pace_.event_at_last);
  beat.due = loop_.now() + beat.pause;
}

void StatusWriter::write_pod(const JobKey& key, const TaskSpec& newest, const Said& what,
                             bool promise_is_void) {
  ++in_flight_;
  // Guarded by the revision, so that it never lies over a bind; whoever lost the race is written
  // anew.
  client_.write(
      client::PatchWrite{
          kinds::kPod, newest.name_space(), newest.name(), client::PatchType::StrategicMerge,
          not_scheduled(what, promise_is_void, clock_.now()), "status", newest.pod->revision()},
      [this, alive = alive_, key, uid = newest.pod->uid().text()](const Result<ObjectPtr>& done) {
        if (!*alive) return;
        --in_flight_;
        const auto place = records_.find(key);
        if (!done && done.error().code != Code::NotFound && place != records_.end()) {
          place->second.told_pods[uid].condition = {};
          retry_later(key);
        }
        drain();
      });
}

void StatusWriter::bind_failed(const TaskSpecPtr& task, const std::string& message) {
  const TaskSpecPtr newest = newest_(*task);
  const Said what{"SchedulerError", message};
  if (newest == nullptr || says(*newest, what)) return;
  tell_pod(*newest, what);
  write_pod(task->job, *newest, what, false);
}

// The condition that says why it waits; null: it does not, or nothing is said.
const PodGroupCondition* StatusWriter::waits_for(const Record& record) {
  const JobReport& report = record.report;
  if (!report.group || !report.status || !report.unsatisfied || !is_waiting(report.status->phase))
    return nullptr;
  const PodGroupCondition* out = report.status->condition("Unschedulable");
  return out != nullptr && out->status == "True" ? out : nullptr;
}

bool StatusWriter::event_news(const Record& record) {
  const PodGroupCondition* said = waits_for(record);
  return said != nullptr && said->message != record.told_unschedulable;
}

bool StatusWriter::pod_event_news(const Record& record) {
  return std::ranges::any_of(record.report.waiting, [&](const PodReason& pod) {
    const auto told = record.told_pods.find(pod.task->pod->uid().text());
    return told != record.told_pods.end() && told->second.event != Said{pod.reason, pod.message};
  });
}

std::optional<SteadyTime> StatusWriter::events_due(const Record& record) {
  std::optional<SteadyTime> out;
  if (event_news(record)) out = record.group_event.due;
  if (pod_event_news(record))
    out = std::min(out.value_or(SteadyTime::max()), record.pod_events.due);
  return out;
}

void StatusWriter::tell(Record& record) {
  const JobReport& report = record.report;
  if (!report.group || !report.status) return;
  const bool waits = is_waiting(report.status->phase);
  const PodGroupCondition* unschedulable = waits_for(record);
  const bool other_reason = record.told_code != report.why_code;
  if (unschedulable != nullptr && event_news(record) &&
      (other_reason || record.group_event.due <= loop_.now())) {
    record.told_unschedulable = unschedulable->message;
    record.told_code = std::string(report.why_code);
    told_at_last(record.group_event, other_reason);
    // One, whose figures are kept up, as long as the group is there.
    events_.keep_current(*report.group, client::EventType::Warning, "Unschedulable",
                         unschedulable->message);
  }
  if (!waits && !record.told_ready)
    events_.normal(*report.group, "Scheduled", "pod group is ready");
  record.told_ready = !waits;
  if (waits) return;
  record.told_unschedulable.clear();
  record.told_code.clear();
}

}  // namespace krater::scheduler
