#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "model/keys.h"
#include "replay/csv.h"
#include "replay/readers.h"
#include "replay/workload.h"

namespace krater::replay {
namespace {

constexpr std::int64_t kMostPods = 100'000;

Result<GangShape> job_of(const std::vector<std::string>& names, const CsvRow& row) {
  if (row.fields.size() > names.size())
    return bad_line(row.line, "it has " + std::to_string(row.fields.size()) +
                                  " fields, the first line names " + std::to_string(names.size()));
  GangShape out;
  out.name = "job-" + std::to_string(row.line - 1);
  std::int64_t pods = 1;
  std::optional<std::int64_t> min;
  PodShape pod;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const std::string &name = names[i], &field = row.fields[i];
    if (field.empty()) continue;
    if (name == "job") {
      out.name = field;
    } else if (name == "queue") {
      out.queue = field;
    } else if (name == "submit") {
      TRY_ASSIGN(out.at, seconds_field(field, row.line, name));
    } else if (name == "run") {
      TRY_ASSIGN(pod.run, seconds_field(field, row.line, name));
    } else if (name == "pods") {
      TRY_ASSIGN(pods, whole_field(field, row.line, name, 1, kMostPods));
    } else if (name == "min") {
      TRY_ASSIGN(min, whole_field(field, row.line, name, 1, kMostPods));
    } else if (name == "priority") {
      TRY_ASSIGN(out.priority, whole_field(field, row.line, name, -1'000'000'000, 1'000'000'000));
    } else {
      TRY_ASSIGN(pod.requests[name], amount_field(field, row.line, name));
    }
  }
  if (!pod.run || *pod.run <= Duration(0)) return bad_line(row.line, "run must be more than zero");
  out.min = min.value_or(pods);
  if (out.min > pods)
    return bad_line(row.line, "min is " + std::to_string(out.min) + ", but there are " +
                                  std::to_string(pods) + " pods");
  out.pods.assign(static_cast<std::size_t>(pods), pod);
  return out;
}

}  // namespace

bool names_columns(const CsvRow& first) {
  return std::find(first.fields.begin(), first.fields.end(), "submit") != first.fields.end();
}

Result<Trace> read_columns(const std::vector<CsvRow>& rows) {
  if (rows.empty() || !names_columns(rows.front()))
    return bad_line(rows.empty() ? 1 : rows.front().line,
                    "the first line must name the columns: submit, run, cpu, ...");
  const std::vector<std::string>& names = rows.front().fields;
  std::set<std::string> once;
  for (const std::string& name : names) {
    if (name.empty()) return bad_line(rows.front().line, "a column has no name");
    if (!once.insert(name).second)
      return bad_line(rows.front().line, "column \"" + name + "\" is there twice");
  }
  Trace out;
  std::map<std::string, std::size_t> lines;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    TRY_ASSIGN(GangShape job, job_of(names, rows[i]));
    const auto [seen, fresh] = lines.emplace(job.name, rows[i].line);
    if (!fresh)
      return bad_line(rows[i].line, "job \"" + job.name + "\" is on line " +
                                        std::to_string(seen->second) + " already");
    out.jobs.push_back(std::move(job));
  }
  return out;
}

Result<Workload> read_trace(std::string_view csv, const TraceOptions& options) {
  TRY_ASSIGN(const std::vector<CsvRow> rows, read_csv(csv));
  const bool alibaba = !rows.empty() && is_alibaba(rows.front());
  TRY_ASSIGN(const Trace trace,
             alibaba ? read_alibaba("trace", rows, options) : read_columns(rows));
  Workload out;
  TRY(add_trace(trace, options, out));
  add_nodes(options, out);
  sort_by_time(out);
  return out;
}

}  // namespace krater::replay
