#include "replay/trace.h"

#include <charconv>
#include <cmath>
#include <set>

#include "base/quantity.h"
#include "base/strings.h"
#include "model/keys.h"
#include "model/resource_list.h"

namespace krater::replay {
namespace {

constexpr std::int64_t kMostCores = 1'000'000, kMostOfAnything = 1'000'000'000'000'000;
constexpr double kMostSeconds = 100.0 * 365 * 24 * 3600;

std::optional<double> number_of(std::string_view text) {
  double out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

Json queue_object(const std::string& name) {
  Json out = new_object(kinds::kQueue, "", name);
  set_path(out, {"spec", "weight"}, Json(1));
  return out;
}

}  // namespace

Json node_object(const std::string& name, const NodeSize& size) {
  Json out = new_object(kinds::kNode, "", name);
  set_path(out, {"status", "allocatable"},
           JsonObject{{"cpu", size.cpu}, {"memory", size.memory}, {"pods", "110"}});
  return out;
}

Submission make_gang(const GangShape& shape) {
  const std::string name = object_name(shape.name);
  Submission out{shape.name_space + "/" + shape.name, shape.queue, shape.at, shape.min};
  out.pods_wait = true;
  Json group = new_object(kinds::kPodGroup, shape.name_space, name);
  set_path(group, {"spec", "minMember"}, Json(shape.min));
  set_path(group, {"spec", "queue"}, Json(shape.queue));
  if (shape.priority != 0)
    set_path(group, {"spec", "priorityClassName"}, Json("p" + std::to_string(shape.priority)));
  std::map<std::string, Quantity> least;
  Json pod = new_object(kinds::kPod, shape.name_space, "");
  set_path(pod, {"metadata", "annotations", keys::kGroupName}, Json(name));
  set_path(pod, {"spec", "schedulerName"}, Json(keys::kVolcanoScheduler));
  for (std::size_t i = 0; i < shape.pods.size(); ++i) {
    JsonObject requests;
    for (const auto& [resource, text] : shape.pods[i].requests) {
      requests[resource] = text;
      const Result<Quantity> each = Quantity::parse(text);
      if (each && static_cast<std::int64_t>(i) < shape.min) least[resource] += *each;
    }
    JsonObject container{{"name", "main"}};
    container["resources"] = JsonObject{{"requests", std::move(requests)}};
    set_path(pod, {"spec", "containers"}, JsonArray{std::move(container)});
    set_path(pod, {"metadata", "name"}, Json(name + "-w-" + std::to_string(i)));
    out.pods.push_back({pod, shape.pods[i].run});
  }
  JsonObject sum;
  for (const auto& [resource, amount] : least) sum[resource] = amount.text();
  set_path(group, {"spec", "minResources"}, std::move(sum));
  out.group = std::move(group);
  return out;
}

Result<void> add_trace(const Trace& trace, const TraceOptions& options, Workload& out) {
  std::set<std::pair<std::string, std::string>> there;
  bool nodes = false;
  for (const auto& [kind, object] : out.cluster) {
    there.emplace(kind.kind, text_at(object, {"metadata", "name"}));
    nodes = nodes || kind == kinds::kNode;
  }
  std::set<std::string> jobs;
  for (const Submission& one : out.submissions) jobs.insert(one.name);
  const auto queue = [&](const std::string& name) {
    if (there.emplace(kinds::kQueue.kind, name).second)
      out.cluster.emplace_back(kinds::kQueue, queue_object(name));
  };
  queue(std::string(keys::kDefaultQueue));
  for (const GangShape& job : trace.jobs) {
    if (!jobs.insert(job.name_space + "/" + job.name).second)
      return make_error(Code::BadRequest, "job \"" + job.name + "\" is there twice");
    queue(job.queue);
    const std::string priority = "p" + std::to_string(job.priority);
    if (job.priority != 0 && there.emplace(kinds::kPriorityClass.kind, priority).second) {
      Json object = new_object(kinds::kPriorityClass, "", priority);
      set_path(object, {"value"}, Json(job.priority));
      out.cluster.emplace_back(kinds::kPriorityClass, std::move(object));
    }
    out.submissions.push_back(make_gang(job));
  }
  if (!nodes && !options.nodes_given) {
    for (const auto& [name, size] : trace.nodes)
      out.cluster.emplace_back(kinds::kNode, node_object(object_name(name), size));
  }
  out.notes.insert(out.notes.end(), trace.notes.begin(), trace.notes.end());
  return {};
}

void add_nodes(const TraceOptions& options, Workload& out) {
  for (const auto& [kind, object] : out.cluster) {
    if (kind == kinds::kNode) return;
  }
  for (std::int64_t i = 0; i < options.nodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    out.cluster.emplace_back(kinds::kNode, node_object(name, {options.cpu, options.memory}));
  }
}

Error bad_line(std::size_t line, const std::string& what) {
  return make_error(Code::BadRequest, "line " + std::to_string(line) + ": " + what);
}

Error bad_field(std::size_t line, std::string_view field, const std::string& problem,
                std::string_view text) {
  return bad_line(line, std::string(field) + " " + problem + ": \"" + std::string(text) + "\"");
}

Result<std::int64_t> whole_field(std::string_view text, std::size_t line, std::string_view field,
                                 std::int64_t least, std::int64_t most) {
  std::string_view digits = text;
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    digits = text.substr(0, point);
    if (text.find_first_not_of('0', point + 1) != std::string_view::npos ||
        point + 1 == text.size())
      return bad_field(line, field, "is not a whole number", text);
  }
  const std::optional<std::int64_t> number = parse_int(digits);
  if (!number) return bad_field(line, field, "is not a number", text);
  if (*number < least || *number > most)
    return bad_field(line, field,
                     "must be " + std::to_string(least) + " to " + std::to_string(most), text);
  return *number;
}

Result<Duration> seconds_field(std::string_view text, std::size_t line, std::string_view field) {
  const std::optional<double> number = number_of(text);
  if (!number) return bad_field(line, field, "is not a number", text);
  if (*number < 0 || *number > kMostSeconds)
    return bad_field(line, field, "must be zero or more seconds, a hundred years at most", text);
  return Duration(std::chrono::milliseconds(std::llround(*number * 1000)));
}

std::string amount_problem(std::string_view resource, std::string_view text) {
  const Result<Quantity> amount = Quantity::parse(text);
  if (!amount) return "is not a quantity";
  if (amount->sign() < 0) return "must not be less than zero";
  const std::int64_t most = resource == resources::kCpu ? kMostCores : kMostOfAnything;
  if (amount->value() > most) return "must be " + std::to_string(most) + " at most";
  return "";
}

Result<std::string> amount_field(std::string_view text, std::size_t line, std::string_view field) {
  if (const std::string problem = amount_problem(field, text); !problem.empty())
    return bad_field(line, field, problem, text);
  return std::string(text);
}

Result<std::int64_t> part_field(std::string_view text, std::size_t line, std::string_view field) {
  const std::optional<double> number = number_of(text);
  if (!number) return bad_field(line, field, "is not a number", text);
  if (*number < 0 || *number > 1e6) return bad_field(line, field, "must be 0 to 1000000", text);
  return std::llround(*number * 1e9);
}

std::string part_of(std::string_view resource, std::string_view whole, std::int64_t part) {
  __extension__ using Wide = __int128;
  const Result<Quantity> amount = Quantity::parse(whole);
  if (!amount) return "0";
  const bool cpu = resource == resources::kCpu;
  const Wide all = cpu ? amount->milli_value() : amount->value();
  const Wide mine = (all * part + 999'999'999) / 1'000'000'000;
  const auto out = static_cast<std::int64_t>(std::min<Wide>(mine, kMostOfAnything));
  return (cpu ? Quantity::from_milli(out) : Quantity::from_value(out)).text();
}

void Skipped::add(const std::string& why, std::size_t line) {
  Seen& seen = seen_[why];
  if (seen.count++ == 0) seen.first = line;
}

void Skipped::tell(std::string_view file, std::vector<std::string>& notes) const {
  for (const auto& [why, seen] : seen_) {
    notes.push_back(std::string(file) + ": " + std::to_string(seen.count) +
                    (seen.count == 1 ? " line: " : " lines: ") + why + " (the first is line " +
                    std::to_string(seen.first) + ")");
  }
}

std::string object_name(std::string_view text) {
  if (text.empty() || (text.size() < 200 && check_dns1123_subdomain(text).empty()))
    return std::string(text);
  std::string out;
  for (const char c : to_lower(text.substr(0, 150)))
    out += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
  if (out.front() == '-') out.front() = 'x';
  // What differed before differs after.
  return out + "-" + std::to_string(fnv1a(text));
}

}  // namespace krater::replay
