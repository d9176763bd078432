// What both of Google's traces have in common: machines of size one, microseconds, and tasks whose
// events tell when they came, ran and ended.
#include "replay/google.h"

#include <algorithm>

namespace krater::replay {
namespace {

// Beyond what a Duration can hold: after the end of the trace.
constexpr std::int64_t kEver = 3'000'000'000'000'000;  // microseconds, a hundred years

}  // namespace

Result<std::int64_t> google_time(std::string_view text, std::size_t line) {
  return whole_field(text, line, "time", 0, std::numeric_limits<std::int64_t>::max());
}

void GoogleTasks::add(const GoogleEvent& event) {
  if (event.at > kEver) {
    skipped_.add("events after the end of the trace are left out", event.line);
    return;
  }
  events_.push_back(event);
}

void GoogleTasks::play(const GoogleEvent& event, Life& life) {
  if (event.cpu) life.cpu = event.cpu;
  if (event.memory) life.memory = event.memory;
  if (event.priority) life.priority = *event.priority;
  const bool first = !life.submitted;
  switch (event.step) {
    case GoogleStep::Submit:
      if (first) life.submitted = event.at;
      break;
    case GoogleStep::Schedule:
      // Where its submission is missing it came when it ran.
      if (first) life.submitted = event.at;
      life.began = event.at;
      life.ran.reset();
      break;
    case GoogleStep::End:
      if (life.began) life.ran = event.at - *life.began;
      life.began.reset();
      break;
    case GoogleStep::Other:
      break;
  }
}

// Tasks of a job that come in the same second are a job of ours.
Trace GoogleTasks::finish(const std::string& file, const TraceOptions& options) {
  std::stable_sort(events_.begin(), events_.end(),
                   [](const GoogleEvent& a, const GoogleEvent& b) { return a.at < b.at; });
  std::map<std::pair<std::int64_t, std::int64_t>, Life> lives;
  for (const GoogleEvent& event : events_) {
    Life& life = lives[{event.job, event.index}];
    if (life.line == 0) life.line = event.line;
    play(event, life);
  }
  std::map<std::pair<std::int64_t, std::int64_t>, GangShape> jobs;  // by job and second
  std::optional<std::int64_t> first;
  for (const auto& [name, life] : lives) {
    if (life.submitted) first = std::min(first.value_or(*life.submitted), *life.submitted);
  }
  for (const auto& [name, life] : lives) {
    if (!life.submitted || (!life.began && !life.ran)) {
      skipped_.add("tasks that never ran are left out, nobody knows for how long they would",
                   life.line);
      continue;
    }
    const std::int64_t second = (*life.submitted - *first) / 1'000'000;
    GangShape& job = jobs[{name.first, second}];
    job.at = std::chrono::seconds(second);
    job.priority = std::max(job.priority, life.priority);
    PodShape pod;
    // Still running at the end of the trace: it runs until the end.
    if (!life.began)
      pod.run = std::max<Duration>(std::chrono::microseconds(*life.ran), std::chrono::seconds(1));
    if (life.cpu) {
      pod.requests["cpu"] = part_of("cpu", options.cpu, *life.cpu);
    } else {
      pod.requests["cpu"] = options.pod_cpu;
      skipped_.add("tasks that do not say what they ask for ask for cpu " + options.pod_cpu,
                   life.line);
    }
    if (life.memory) pod.requests["memory"] = part_of("memory", options.memory, *life.memory);
    job.pods.push_back(std::move(pod));
  }
  for (auto& [key, job] : jobs) {
    const auto earlier = jobs.lower_bound({key.first, 0});
    job.name = "job-" + std::to_string(key.first);
    if (earlier->first != key) job.name += "-" + std::to_string(key.second);
    out_.jobs.push_back(std::move(job));
  }
  skipped_.tell(file, out_.notes);
  return std::move(out_);
}

}  // namespace krater::replay
