#include <algorithm>
#include <map>

#include "base/quantity.h"
#include "base/strings.h"
#include "model/resource_list.h"
#include "replay/object_checks.h"
#include "replay/readers.h"

namespace krater::replay {
namespace {

struct Line {
  std::optional<Duration> at{};  // since whenever; a log has one kind of time
  std::map<std::string, std::string, std::less<>> fields{};

  std::string_view at_of(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string_view() : std::string_view(found->second);
  }
};

// Before "action=" may stand kubectl's timestamp, or the seconds of `krater simulate --decisions`.
Result<Line> parse(std::string_view text, std::size_t number) {
  Line out;
  const std::size_t begin = text.find("action=");
  const std::string_view before = trim(text.substr(0, begin));
  if (const std::optional<WallTime> wall = parse_time(before)) {
    out.at = Duration(wall->unix_nanos());
  } else if (!before.empty()) {
    TRY_ASSIGN(out.at, seconds_field(before, number, "time"));
  }
  std::string_view rest = text.substr(begin);
  while (!(rest = trim(rest)).empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos)
      return bad_field(number, "a part", "has no value", rest.substr(0, rest.find(' ')));
    const std::string name(rest.substr(0, equals));
    rest = rest.substr(equals + 1);
    std::size_t end = rest.find(' ');
    if (!rest.empty() && rest.front() == '"') {
      end = 1;
      while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
      if (end >= rest.size()) return bad_line(number, name + " does not end");
      const Result<Json> value = parse_json(rest.substr(0, ++end));
      if (!value || !value->is_string()) return bad_line(number, name + " is no text");
      out.fields[name] = std::string(view(value->get_string()));
    } else {
      out.fields[name] = std::string(rest.substr(0, end));
    }
    rest = end >= rest.size() ? std::string_view() : rest.substr(end);
  }
  return out;
}

struct Story {
  std::string queue;
  Duration came{};
  std::optional<Duration> bound{}, ended{};
  std::int64_t running = 0, most = 0, first = 0;  // pods; `first`: bound at once, at first
  std::map<std::string, std::string> asks{};      // a pod
  std::size_t line = 0;
};

// "cpu=4,memory=8Gi" of `pods` together; one of them, rounded up.
Result<std::map<std::string, std::string>> asks_of(std::string_view text, std::int64_t pods,
                                                   std::size_t number) {
  std::map<std::string, std::string> out;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view one = trim(part);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos)
      return bad_field(number, "asks", "is not resource=amount", one);
    const std::string_view name = one.substr(0, equals);
    TRY_ASSIGN(const std::string all, amount_field(one.substr(equals + 1), number, name));
    const bool cpu = name == resources::kCpu;
    TRY_ASSIGN(const Quantity sum, Quantity::parse(all));
    const std::int64_t each = ((cpu ? sum.milli_value() : sum.value()) + pods - 1) / pods;
    out[std::string(name)] = resource_text(name, each);
  }
  return out;
}

constexpr std::int64_t kMostPods = 100'000;

class Reader {
 public:
  Result<void> add(std::string_view text, std::size_t number) {
    TRY_ASSIGN(const Line line, parse(text, number));
    const std::string job(line.at_of("job"));
    if (job.empty()) return {};
    if (line.at) {
      if (!first_) first_ = *line.at;
    } else {
      skipped_.add(
          "lines without a time (kubectl logs --timestamps gives it): everybody comes at once",
          number);
    }
    const Duration now =
        std::max(line.at.value_or(Duration(0)) - first_.value_or(Duration(0)), Duration(0));
    const auto [found, fresh] = stories_.try_emplace(job);
    Story& story = found->second;
    if (fresh) {
      story.came = now;
      story.line = number;
    }
    if (const std::string_view queue = line.at_of("queue"); !queue.empty()) story.queue = queue;
    return tell(line, number, now, story);
  }

  Trace finish(const std::string& file, const TraceOptions& options) {
    std::map<std::string, int> names;
    for (const auto& [key, story] : stories_) ++names[std::string(without_uid(key))];
    for (const auto& [key, story] : stories_) {
      const std::size_t slash = key.find('/');
      GangShape job;
      if (slash != std::string::npos) job.name_space = key.substr(0, slash);
      job.name = slash == std::string::npos ? key : key.substr(slash + 1);
      // Whose name tells a uid: of a Job, which the log knows by its PodGroup.
      if (names[std::string(without_uid(key))] == 1 && without_uid(job.name) != "podgroup")
        job.name = without_uid(job.name);
      if (!story.queue.empty()) job.queue = story.queue;
      job.at = story.came;
      const std::int64_t pods = std::max<std::int64_t>(story.most, 1);
      job.min = std::clamp<std::int64_t>(story.first == 0 ? pods : story.first, 1, pods);
      PodShape pod;
      pod.requests = story.asks;
      if (pod.requests.empty()) {
        pod.requests["cpu"] = options.pod_cpu;
        skipped_.add("jobs whose log does not say what they ask for: each pod asks for cpu " +
                         options.pod_cpu,
                     story.line);
      }
      if (story.ended && story.bound) {
        pod.run = std::max<Duration>(*story.ended - *story.bound, std::chrono::seconds(1));
      } else {
        skipped_.add("jobs whose end the log does not tell run until the end", story.line);
      }
      job.pods.assign(static_cast<std::size_t>(pods), pod);
      out_.jobs.push_back(std::move(job));
    }
    skipped_.tell(file, out_.notes);
    return std::move(out_);
  }

 private:
  Result<void> tell(const Line& line, std::size_t number, Duration now, Story& story) {
    const std::string_view verdict = line.at_of("verdict"), pods = line.at_of("pods");
    if (verdict == "bound") {
      TRY_ASSIGN(const std::int64_t count, whole_field(pods, number, "pods", 1, kMostPods));
      if (story.first == 0) story.first = count;
      story.running = std::min(story.running + count, kMostPods);
      story.most = std::max(story.most, story.running);
      story.bound = now;
      story.ended.reset();
      if (const std::string_view asks = line.at_of("asks"); !asks.empty()) {
        TRY_ASSIGN(story.asks, asks_of(asks, count, number));
      }
    } else if (verdict == "evicted") {
      story.running = std::max<std::int64_t>(story.running - 1, 0);
    } else if (verdict == "waits" && !pods.empty()) {
      TRY_ASSIGN(const std::int64_t count, whole_field(pods, number, "pods", 0, kMostPods));
      story.most = std::max(story.most, std::min(story.running + count, kMostPods));
    } else if (verdict == "completed") {
      story.ended = now;
    }
    return {};
  }

  std::map<std::string, Story> stories_;
  std::optional<Duration> first_;
  Trace out_;
  Skipped skipped_;
};

}  // namespace

bool is_decision(std::string_view line) {
  const std::size_t at = line.find("action=");
  return at != std::string_view::npos && at < 64 && line.find(" verdict=", at) != line.npos;
}

Result<Trace> read_decision_log(const std::string& file, std::string_view text,
                                const TraceOptions& options) {
  Reader reader;
  std::size_t number = 0, others = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    if (is_decision(line)) {
      TRY(reader.add(trim(line), number));
    } else {
      ++others;
    }
  }
  Trace out = reader.finish(file, options);
  if (others > 0)
    out.notes.push_back(file + ": " + std::to_string(others) +
                        " lines that are no decisions are left out");
  return out;
}

std::string_view without_uid(std::string_view name) {
  constexpr std::size_t kUid = 36;
  if (name.size() <= kUid + 1 || name[name.size() - kUid - 1] != '-') return name;
  const std::string_view uid = name.substr(name.size() - kUid);
  for (std::size_t i = 0; i < kUid; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (uid[i] >= '0' && uid[i] <= '9') || (uid[i] >= 'a' && uid[i] <= 'f');
    if (dash ? uid[i] != '-' : !hex) return name;
  }
  return name.substr(0, name.size() - kUid - 1);
}

}  // namespace krater::replay
