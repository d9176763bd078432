#include "replay/tally.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace krater::replay {
namespace {

constexpr std::size_t kParts = 10;  // of the time, for shares over it

double seconds(Duration time) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) /
         1000;
}

std::string line(const char* format, auto... values) {
  std::string out(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(out.data(), out.size() + 1, format, values...);
  return out;
}

// Core-milliseconds in thousandths: a big cluster holds more of them in a month than an int64 does.
__extension__ using Wide = __int128;

// Held between two moments.
Wide held(const std::vector<std::pair<Duration, std::int64_t>>& steps, Duration from,
          Duration until) {
  Wide out = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Duration begin = std::max(steps[i].first, from);
    const Duration end = std::min(i + 1 < steps.size() ? steps[i + 1].first : until, until);
    if (end <= begin) continue;
    out += Wide{std::chrono::duration_cast<std::chrono::milliseconds>(end - begin).count()} *
           steps[i].second;
  }
  return out;
}

// A table, a line each.
std::string groups_text(const char* title, std::string_view what, const JsonArray& groups) {
  std::string out =
      line("%-24s %6s %8s %10s %10s %8s %12s  %s\n", title, "JOBS", "STARTED", "MEAN WAIT",
           "MAX WAIT", "EVICTED", "CPU SECONDS", "SHARE OF CPU OVER TIME, PERCENT");
  for (const Json& group : groups) {
    std::string over_time;
    for (const Json& share : *array_at(group, {"sharePerMille"}))
      over_time += (over_time.empty() ? "" : " ") + std::to_string((share.get_int64() + 5) / 10);
    out +=
        line("%-24s %6lld %8lld %9.1fs %9.1fs %8lld %12.0f  %s\n", text_at(group, {what}).c_str(),
             static_cast<long long>(int_at(group, {"jobs"}).value_or(0)),
             static_cast<long long>(int_at(group, {"started"}).value_or(0)),
             find(group, {"meanWait"})->get_double(), find(group, {"maxWait"})->get_double(),
             static_cast<long long>(int_at(group, {"evictions"}).value_or(0)),
             find(group, {"cpuSeconds"})->get_double(), over_time.c_str());
  }
  return out;
}

}  // namespace

void Tally::submitted(const std::string& job, const std::string& queue, const std::string& user,
                      Duration at, std::int64_t min, std::int64_t pods) {
  JobTale tale;
  tale.name = job;
  tale.queue = queue;
  tale.user = user;
  tale.submitted = at;
  tale.min = min;
  tale.pods = pods;
  jobs_[job] = std::move(tale);
  queues_.try_emplace(queue);
  users_.try_emplace(user);
}

void Tally::move(const JobTale& job, Duration at, std::int64_t cpu_milli) {
  for (GroupTale* tale : {&queues_[job.queue], &users_[job.user]}) {
    tale->cpu += cpu_milli;
    if (!tale->steps.empty() && tale->steps.back().first == at) {
      tale->steps.back().second = tale->cpu;
    } else {
      tale->steps.emplace_back(at, tale->cpu);
    }
  }
}

void Tally::placed(const std::string& job, Duration at, std::int64_t cpu_milli) {
  JobTale& tale = jobs_.at(job);
  ++tale.placed;
  if (tale.placed + tale.done >= tale.min) {
    if (!tale.started) tale.started = at;
    if (tale.waits) tale.again += at - *std::exchange(tale.waits, std::nullopt);
  }
  move(tale, at, cpu_milli);
}

void Tally::done(const std::string& job, Duration at, std::int64_t cpu_milli) {
  JobTale& tale = jobs_.at(job);
  --tale.placed;
  if (++tale.done == tale.pods) {
    tale.ended = at;
    ++ended_;
  }
  move(tale, at, -cpu_milli);
}

void Tally::evicted(const std::string& job, Duration at, std::int64_t cpu_milli) {
  JobTale& tale = jobs_.at(job);
  --tale.placed;
  ++tale.evictions;
  if (tale.started && !tale.waits && tale.placed + tale.done < tale.min) tale.waits = at;
  ++queues_[tale.queue].evictions;
  ++users_[tale.user].evictions;
  move(tale, at, -cpu_milli);
}

Duration JobTale::waited_again(Duration now) const {
  return again + (waits ? std::max(now - *waits, Duration(0)) : Duration(0));
}
Duration JobTale::waited(Duration now) const {
  return std::max(started.value_or(now) - submitted, Duration(0)) + waited_again(now);
}

Duration Tally::first() const {
  std::optional<Duration> out;
  for (const auto& [name, job] : jobs_) out = std::min(out.value_or(job.submitted), job.submitted);
  return out.value_or(Duration(0));
}

// From the first submission to the end of the last job; as long as nobody has ended, to now.
Duration Tally::makespan(Duration until) const {
  std::optional<Duration> last;
  bool runs = false;
  for (const auto& [name, job] : jobs_) {
    if (job.ended) last = std::max(last.value_or(*job.ended), *job.ended);
    runs = runs || job.placed > 0;
  }
  if (runs || !last) last = until;
  return std::max(*last - first(), Duration(0));
}

// Per mille of the cluster, in equal parts of the time.
std::vector<std::int64_t> Tally::shares(const GroupTale& group, Duration until,
                                        std::size_t parts) const {
  std::vector<std::int64_t> out;
  const Duration begin = first(), each = (until - begin) / static_cast<int>(parts);
  const Wide all =
      Wide{std::chrono::duration_cast<std::chrono::milliseconds>(each).count()} * capacity_;
  for (std::size_t i = 0; i < parts; ++i) {
    const Duration from = begin + each * static_cast<int>(i);
    out.push_back(
        all <= 0 ? 0
                 : static_cast<std::int64_t>(held(group.steps, from, from + each) * 1000 / all));
  }
  return out;
}

JsonArray Tally::groups_json(std::string_view what, std::string JobTale::*member,
                             const Groups& groups, Duration until) const {
  JsonArray out;
  for (const auto& [name, tale] : groups) {
    std::int64_t count = 0, started = 0;
    Duration sum{}, most{};
    for (const auto& [job_name, job] : jobs_) {
      if (job.*member != name) continue;
      ++count;
      started += job.started ? 1 : 0;
      const Duration waited = job.waited(watched_.value_or(until));
      sum += waited;
      most = std::max(most, waited);
    }
    JsonArray over_time;
    for (const std::int64_t share : shares(tale, until, kParts)) over_time.emplace_back(share);
    out.push_back(JsonObject{
        {what, name},
        {"jobs", count},
        {"started", started},
        {"meanWait", count == 0 ? 0.0 : seconds(sum / count)},
        {"maxWait", seconds(most)},
        {"evictions", tale.evictions},
        {"cpuSeconds", static_cast<double>(held(tale.steps, Duration(0), until)) / 1'000'000},
        {"sharePerMille", std::move(over_time)}});
  }
  return out;
}

Json Tally::report(Duration until) const {
  Json out(boost::json::object_kind);
  JsonArray jobs;
  std::int64_t evictions = 0;
  Wide used = 0;
  for (const auto& [name, job] : jobs_) {
    JsonObject one{{"job", name},
                   {"queue", job.queue},
                   {"user", job.user},
                   {"pods", job.pods},
                   {"submitted", seconds(job.submitted)},
                   {"evictions", job.evictions}};
    one["waited"] = seconds(job.waited(watched_.value_or(until)));
    one["waitedAgain"] = seconds(job.waited_again(watched_.value_or(until)));
    if (job.started) one["started"] = seconds(*job.started);
    if (job.ended) one["ended"] = seconds(*job.ended);
    one["state"] = job.ended ? "ended" : !job.started || job.waits ? "waiting" : "running";
    evictions += job.evictions;
    jobs.push_back(std::move(one));
  }
  for (const auto& [name, tale] : queues_) used += held(tale.steps, Duration(0), until);
  const Wide all =
      Wide{std::chrono::duration_cast<std::chrono::milliseconds>(until - first()).count()} *
      capacity_;
  out.get_object()["makespan"] = seconds(makespan(until));
  out.get_object()["simulated"] = seconds(until);
  out.get_object()["utilisationPerMille"] =
      all <= 0 ? 0 : static_cast<std::int64_t>(used * 1000 / all);
  out.get_object()["evictions"] = evictions;
  out.get_object()["notSubmitted"] = not_submitted_;
  out.get_object()["queues"] = groups_json("queue", &JobTale::queue, queues_, until);
  out.get_object()["users"] = groups_json("user", &JobTale::user, users_, until);
  out.get_object()["jobs"] = std::move(jobs);
  return out;
}

std::string Tally::text(Duration until) const {
  const Json all = report(until);
  std::string out = line("makespan %.1fs, utilisation of cpu %.1f%%, pods evicted %lld\n",
                         find(all, {"makespan"})->get_double(),
                         static_cast<double>(int_at(all, {"utilisationPerMille"}).value_or(0)) / 10,
                         static_cast<long long>(int_at(all, {"evictions"}).value_or(0)));
  if (not_submitted_ > 0)
    out += line("jobs that had not come when it ended: %lld\n",
                static_cast<long long>(not_submitted_));
  out += "\n";
  out += groups_text("QUEUE", "queue", *array_at(all, {"queues"}));
  const JsonArray& users = *array_at(all, {"users"});
  if (users.size() > 1) out += "\n" + groups_text("USER", "user", users);
  out += line("\n%-40s %-24s %10s %10s %10s %10s %8s %s\n", "JOB", "QUEUE", "SUBMITTED", "WAITED",
              "AGAIN", "ENDED", "EVICTED", "STATE");
  for (const Json& job : *array_at(all, {"jobs"})) {
    const Json* ended = find(job, {"ended"});
    out += line("%-40s %-24s %9.1fs %9.1fs %9.1fs %10s %8lld %s\n", text_at(job, {"job"}).c_str(),
                text_at(job, {"queue"}).c_str(), find(job, {"submitted"})->get_double(),
                find(job, {"waited"})->get_double(), find(job, {"waitedAgain"})->get_double(),
                ended == nullptr ? "-" : line("%.1fs", ended->get_double()).c_str(),
                static_cast<long long>(int_at(job, {"evictions"}).value_or(0)),
                text_at(job, {"state"}).c_str());
  }
  return out;
}

}  // namespace krater::replay
