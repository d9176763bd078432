#include "replay/events.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "replay/object_checks.h"
#include "replay/readers.h"

namespace krater::replay {
namespace {

std::optional<WallTime> time_of(const Json& event,
                                std::initializer_list<std::initializer_list<std::string_view>> at) {
  for (const auto& path : at) {
    const Json* value = find(event, path);
    if (value == nullptr || !value->is_string()) continue;
    if (const auto time = parse_time(view(value->get_string()))) return time;
  }
  return std::nullopt;
}

void earlier(std::optional<WallTime>& time, WallTime other) {
  time = time ? std::min(*time, other) : other;
}
void later(std::optional<WallTime>& time, WallTime other) {
  time = time ? std::max(*time, other) : other;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// The word after `before`: "Created pod: a-xyz" is about "a-xyz".
std::string word_after(const std::string& message, std::string_view before) {
  const std::size_t at = message.find(before);
  if (at == std::string::npos) return "";
  const std::string_view rest = trim(std::string_view(message).substr(at + before.size()));
  return std::string(rest.substr(0, rest.find_first_of(" ,\n")));
}

// Of "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 2 minAvailable".
std::optional<std::int64_t> min_of(const std::string& message) {
  const std::size_t end = message.find(" minAvailable");
  if (end == std::string::npos) return std::nullopt;
  const std::size_t begin = message.find_last_not_of("0123456789", end - 1);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  return parse_int(std::string_view(message).substr(first, end - first));
}

}  // namespace

bool EventLog::is_event(const Json& object) {
  if (text_at(object, {"kind"}) != "Event") return false;
  const std::string version = text_at(object, {"apiVersion"});
  return version == "v1" || version.starts_with("events.k8s.io/");
}

Result<void> EventLog::add(const Json& event, const std::string& where) {
  const std::string_view about =
      find(event, {"involvedObject"}) != nullptr ? "involvedObject" : "regarding";
  const std::string kind = text_at(event, {about, "kind"}), name = text_at(event, {about, "name"});
  if (kind.empty() || name.empty())
    return make_error(Code::BadRequest, where + ": the event does not say what it is about (" +
                                            std::string(about) + ")");
  std::string name_space = text_at(event, {about, "namespace"});
  if (name_space.empty()) name_space = "default";
  const std::optional<WallTime> first = time_of(event, {{"firstTimestamp"},
                                                        {"deprecatedFirstTimestamp"},
                                                        {"eventTime"},
                                                        {"lastTimestamp"},
                                                        {"metadata", "creationTimestamp"}});
  if (!first) return make_error(Code::BadRequest, where + ": the event has no time");
  const WallTime last =
      time_of(event,
              {{"series", "lastObservedTime"}, {"lastTimestamp"}, {"deprecatedLastTimestamp"}})
          .value_or(*first);
  std::string message = text_at(event, {"message"});
  if (message.empty()) message = text_at(event, {"note"});
  const std::string reason = text_at(event, {"reason"});
  if (kind == "Pod") {
    tell_pod(name_space + "/" + name, reason, message, *first, last);
  } else if (kind == "Node") {
    nodes_.insert(name);
  } else {
    tell_owner(kind, name_space, name, reason, message, *first, last);
  }
  return {};
}

void EventLog::tell_pod(const std::string& name, const std::string& reason,
                        const std::string& message, WallTime first, WallTime last) {
  PodStory& pod = pods_[name];
  earlier(pod.seen, first);
  if (reason == "Scheduled") {
    later(pod.scheduled, last);
    if (std::string node = word_after(message, " to "); !node.empty()) nodes_.insert(node);
  } else if (reason == "Started") {
    earlier(pod.started, first);
  } else if (one_of(reason, {"Killing", "Preempted", "Evicted", "Evict", "TaintManagerEviction"})) {
    later(pod.ended, last);
  }
}

void EventLog::tell_owner(const std::string& kind, const std::string& name_space,
                          const std::string& name, const std::string& reason,
                          const std::string& message, WallTime first, WallTime last) {
  if (kind == "PodGroup") {
    GroupStory& group = groups_[name_space + "/" + std::string(without_uid(name))];
    if (const auto min = min_of(message)) group.min = min;
    return;
  }
  const std::string owner = kind + "/" + name_space + "/" + name;
  std::string pod;
  if (reason == "SuccessfulCreate") {
    pod = word_after(message, "Created pod: ");
    if (pod.empty()) pod = word_after(message, "create Pod ");
  } else if (one_of(reason, {"CreatedHeadPod", "CreatedWorkerPod"})) {
    pod = word_after(message, "/");
  } else if (one_of(reason, {"Completed", "BackoffLimitExceeded", "DeadlineExceeded"})) {
    const auto known = owner_ends_.try_emplace(owner, last).first;
    known->second = std::max(known->second, last);
  }
  if (pod.empty()) return;
  PodStory& story = pods_[name_space + "/" + pod];
  earlier(story.seen, first);
  story.owner = owner;
}

std::optional<Duration> EventLog::ran(const PodStory& pod) const {
  std::optional<WallTime> begun = pod.scheduled;
  // A pod that was made anew under its name started before it was scheduled the last time.
  if (pod.started && (!begun || *pod.started > *begun)) begun = pod.started;
  std::optional<WallTime> ended = pod.ended;
  if (const auto owner = owner_ends_.find(pod.owner); !ended && owner != owner_ends_.end())
    ended = owner->second;
  if (!begun || !ended || *ended < *begun) return std::nullopt;
  return std::max<Duration>(*ended - *begun, std::chrono::seconds(1));
}

std::optional<Duration> EventLog::ran(const std::string& pod) const {
  const auto known = pods_.find(pod);
  return known == pods_.end() ? std::nullopt : ran(known->second);
}

// Its owner's; else of the PodGroup with the longest name that its name begins with, as Volcano
// names pods; else its own.
std::string EventLog::job_of(const std::string& pod, const PodStory& story) const {
  for (std::size_t dash = pod.rfind('-'); dash != std::string::npos && dash > 0;
       dash = pod.rfind('-', dash - 1)) {
    const std::string group = pod.substr(0, dash);
    if (groups_.contains(group)) return group;
  }
  if (!story.owner.empty()) return story.owner.substr(story.owner.find('/') + 1);
  return pod;
}

std::vector<EventLog::Told> EventLog::jobs(const std::set<std::string>& known,
                                           const TraceOptions& options,
                                           std::vector<std::string>& notes) const {
  std::map<std::string, Told> out;
  std::size_t pods = 0, endless = 0;
  for (const auto& [name, story] : pods_) {
    if (known.contains(name) || !story.seen) continue;
    const std::string job = job_of(name, story);
    const auto [found, fresh] = out.try_emplace(job);
    Told& told = found->second;
    if (fresh) {
      told.shape.name_space = job.substr(0, job.find('/'));
      told.shape.name = job.substr(job.find('/') + 1);
      told.came = *story.seen;
    }
    told.came = std::min(told.came, *story.seen);
    PodShape pod;
    pod.requests["cpu"] = options.pod_cpu;
    pod.run = ran(story);
    ++pods;
    if (!pod.run) ++endless;
    told.shape.pods.push_back(std::move(pod));
  }
  std::vector<Told> list;
  for (auto& [name, told] : out) {
    const auto group = groups_.find(name);
    const auto count = static_cast<std::int64_t>(told.shape.pods.size());
    told.shape.min = group == groups_.end()
                         ? 1
                         : std::clamp<std::int64_t>(group->second.min.value_or(count), 1, count);
    list.push_back(std::move(told));
  }
  if (pods > 0)
    notes.push_back(std::to_string(pods) + " pods are known from events alone: each asks for cpu " +
                    options.pod_cpu);
  if (endless > 0)
    notes.push_back(std::to_string(endless) +
                    " of them have no end in the events: they run until the end");
  return list;
}

}  // namespace krater::replay
