#include <algorithm>
#include <set>

#include "base/strings.h"
#include "model/keys.h"
#include "replay/workload.h"

namespace krater::replay {
namespace {

Error bad_line(std::size_t number, const std::string& what) {
  return make_error(Code::BadRequest, "line " + std::to_string(number) + ": " + what);
}

Result<std::int64_t> whole(std::string_view text, std::size_t line, std::string_view what) {
  // Seconds and counts; a fraction is cut.
  const std::string_view digits = text.substr(0, text.find('.'));
  if (const auto number = parse_int(digits)) return *number;
  return bad_line(line, std::string(what) + " is not a number: \"" + std::string(text) + "\"");
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (const std::string_view field : split(line, ',')) out.push_back(trim(field));
  return out;
}

// task_name, instance_num, job_name, task_type, status, start_time, end_time, plan_cpu (100 is a
// core), plan_mem (percent of a machine's memory).
Result<JobShape> alibaba_task(const std::vector<std::string_view>& fields, std::size_t line) {
  if (fields.size() < 9) return bad_line(line, "nine fields are wanted");
  JobShape out;
  TRY_ASSIGN(out.pods, whole(fields[1], line, "instance_num"));
  TRY_ASSIGN(const std::int64_t start, whole(fields[5], line, "start_time"));
  TRY_ASSIGN(const std::int64_t end, whole(fields[6], line, "end_time"));
  out.name = std::string(fields[2]) + "-" + std::string(fields[0]) + "-" + std::to_string(line);
  std::replace(out.name.begin(), out.name.end(), '_', '-');
  std::transform(out.name.begin(), out.name.end(), out.name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  out.at = std::chrono::seconds(start);
  out.run = std::chrono::seconds(std::max<std::int64_t>(end - start, 1));
  TRY_ASSIGN(const std::int64_t cpu,
             whole(fields[7].empty() ? "100" : fields[7], line, "plan_cpu"));
  out.requests["cpu"] = std::to_string(cpu * 10) + "m";
  return out;
}

Result<JobShape> row(const std::vector<std::string_view>& names,
                     const std::vector<std::string_view>& fields, std::size_t line) {
  JobShape out;
  out.name = "job-" + std::to_string(line - 1);
  std::optional<std::int64_t> min;
  bool run = false;
  for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i) {
    const std::string_view name = names[i], field = fields[i];
    if (field.empty()) continue;
    if (name == "job") {
      out.name = std::string(field);
    } else if (name == "queue") {
      out.queue = std::string(field);
    } else if (name == "submit") {
      TRY_ASSIGN(const std::int64_t at, whole(field, line, name));
      out.at = std::chrono::seconds(at);
    } else if (name == "run") {
      TRY_ASSIGN(const std::int64_t seconds, whole(field, line, name));
      out.run = std::chrono::seconds(seconds);
      run = seconds > 0;
    } else if (name == "pods") {
      TRY_ASSIGN(out.pods, whole(field, line, name));
    } else if (name == "min") {
      TRY_ASSIGN(min, whole(field, line, name));
    } else if (name == "priority") {
      TRY_ASSIGN(out.priority, whole(field, line, name));
    } else {
      out.requests[std::string(name)] = std::string(field);
    }
  }
  if (!run) return bad_line(line, "run must be more than zero");
  if (out.pods < 1 || out.pods > 100'000) return bad_line(line, "pods must be 1 to 100000");
  out.min = std::clamp<std::int64_t>(min.value_or(out.pods), 1, out.pods);
  return out;
}

void add_nodes(const TraceOptions& options, Workload& out) {
  for (std::int64_t i = 0; i < options.nodes; ++i) {
    Json node = new_object(kinds::kNode, "", "node-" + std::to_string(i));
    JsonObject amounts{{"cpu", options.cpu}, {"memory", options.memory}, {"pods", "110"}};
    set_path(node, {"status", "allocatable"}, std::move(amounts));
    out.cluster.emplace_back(kinds::kNode, std::move(node));
  }
}

}  // namespace

Result<Workload> read_trace(std::string_view csv, const TraceOptions& options) {
  Workload out;
  add_nodes(options, out);
  std::vector<std::string_view> names;
  bool alibaba = false;
  std::size_t number = 0;
  std::set<std::string> queues{std::string(keys::kDefaultQueue)};
  std::set<std::int64_t> priorities;
  for (const std::string_view text : split(csv, '\n')) {
    ++number;
    const std::string_view line = trim(text);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = fields_of(line);
    if (names.empty() && !alibaba) {
      const bool named = std::find(fields.begin(), fields.end(), "submit") != fields.end();
      alibaba = !named && fields.size() >= 9;
      if (!named && !alibaba)
        return bad_line(number, "the first line must name the columns: submit, run, cpu, ...");
      if (named) {
        names = fields;
        continue;
      }
    }
    Result<JobShape> shape = alibaba ? alibaba_task(fields, number) : row(names, fields, number);
    if (!shape) return shape.error();
    if (alibaba) shape->min = shape->pods;
    queues.insert(shape->queue);
    if (shape->priority != 0) priorities.insert(shape->priority);
    out.submissions.push_back(make_job(*shape));
  }
  for (const std::string& queue : queues) {
    Json object = new_object(kinds::kQueue, "", queue);
    set_path(object, {"spec", "weight"}, Json(1));
    out.cluster.emplace_back(kinds::kQueue, std::move(object));
  }
  for (const std::int64_t priority : priorities) {
    Json object = new_object(kinds::kPriorityClass, "", "p" + std::to_string(priority));
    set_path(object, {"value"}, Json(priority));
    out.cluster.emplace_back(kinds::kPriorityClass, std::move(object));
  }
  sort_by_time(out);
  return out;
}

}  // namespace krater::replay
