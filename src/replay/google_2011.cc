#include <array>
#include <map>

#include "base/strings.h"
#include "replay/google.h"
#include "replay/readers.h"

namespace krater::replay {
namespace {

bool number(const std::string& text) {
  return parse_int(text).has_value();
}
bool small(const std::string& text, std::int64_t most) {
  const std::optional<std::int64_t> value = parse_int(text);
  return value && *value >= 0 && *value <= most;
}

// SUBMIT 0, SCHEDULE 1, EVICT 2, FAIL 3, FINISH 4, KILL 5, LOST 6, UPDATE_PENDING 7,
// UPDATE_RUNNING 8.
GoogleStep step_of(std::int64_t type) {
  if (type == 0) return GoogleStep::Submit;
  if (type == 1) return GoogleStep::Schedule;
  return type <= 6 ? GoogleStep::End : GoogleStep::Other;
}

Result<std::int64_t> id_field(const std::string& text, std::size_t line, std::string_view field) {
  return whole_field(text, line, field, 0, std::numeric_limits<std::int64_t>::max());
}

// time, missing info, job ID, task index, machine ID, event type, user, scheduling class, priority,
// CPU request, memory request, disk space request, different machines restriction.
Result<GoogleEvent> task_event(const CsvRow& row) {
  const std::vector<std::string>& fields = row.fields;
  GoogleEvent out{row.line};
  TRY_ASSIGN(out.at, google_time(fields[0], row.line));
  TRY_ASSIGN(out.job, id_field(fields[2], row.line, "job ID"));
  TRY_ASSIGN(out.index, id_field(fields[3], row.line, "task index"));
  TRY_ASSIGN(const std::int64_t type, whole_field(fields[5], row.line, "event type", 0, 8));
  out.step = step_of(type);
  if (!fields[8].empty()) {
    TRY_ASSIGN(out.priority, whole_field(fields[8], row.line, "priority", 0, 1000));
  }
  if (!fields[9].empty()) {
    TRY_ASSIGN(out.cpu, part_field(fields[9], row.line, "CPU request"));
  }
  if (!fields[10].empty()) {
    TRY_ASSIGN(out.memory, part_field(fields[10], row.line, "memory request"));
  }
  return out;
}

// time, missing info, job ID, event type, user, scheduling class, job name, logical job name.
Result<GoogleEvent> job_event(const CsvRow& row) {
  GoogleEvent out{row.line};
  TRY_ASSIGN(out.at, google_time(row.fields[0], row.line));
  TRY_ASSIGN(out.job, id_field(row.fields[2], row.line, "job ID"));
  TRY_ASSIGN(const std::int64_t type, whole_field(row.fields[3], row.line, "event type", 0, 8));
  out.step = step_of(type);
  return out;
}

// time, machine ID, event type (ADD 0, REMOVE 1, UPDATE 2), platform ID, CPUs, memory.
Result<void> machine_event(const CsvRow& row, const TraceOptions& options,
                           std::map<std::int64_t, NodeSize>& machines, Skipped& skipped) {
  TRY_ASSIGN(const std::int64_t id, id_field(row.fields[1], row.line, "machine ID"));
  TRY_ASSIGN(const std::int64_t type, whole_field(row.fields[2], row.line, "event type", 0, 2));
  if (type == 1) {
    skipped.add("machines stay, though the trace removes them", row.line);
    return {};
  }
  if (row.fields[4].empty() || row.fields[5].empty()) {
    skipped.add("machines whose size is not told are left out", row.line);
    return {};
  }
  TRY_ASSIGN(const std::int64_t cpu, part_field(row.fields[4], row.line, "CPUs"));
  TRY_ASSIGN(const std::int64_t memory, part_field(row.fields[5], row.line, "memory"));
  machines[id] = {part_of("cpu", options.cpu, cpu), part_of("memory", options.memory, memory)};
  return {};
}

constexpr std::size_t columns_of(Google2011 table) {
  return table == Google2011::Tasks ? 13 : table == Google2011::Jobs ? 8 : 6;
}

}  // namespace

Google2011 google_2011_table(const CsvRow& first) {
  const std::vector<std::string>& fields = first.fields;
  if (fields.size() == 13 && number(fields[0]) && number(fields[2]) && number(fields[3]) &&
      small(fields[5], 8))
    return Google2011::Tasks;
  // A job event of 2011 has hashes where Alibaba's table of 2017 has numbers and a status.
  if (fields.size() == 8 && number(fields[0]) && number(fields[2]) && small(fields[3], 8) &&
      !fields[4].empty() && !number(fields[4]) && !number(fields[7]))
    return Google2011::Jobs;
  if (fields.size() == 6 && number(fields[0]) && number(fields[1]) && small(fields[2], 2) &&
      !number(fields[3]))
    return Google2011::Machines;
  return Google2011::No;
}

Result<Trace> read_google_2011(const std::vector<TraceFile>& files, const TraceOptions& options) {
  GoogleTasks tasks, jobs;
  Skipped left_out;
  std::map<std::int64_t, NodeSize> machines;
  std::string from;
  for (const TraceFile& file : files) {
    const auto named = [&file](const Error& error) {
      return make_error(Code::BadRequest, file.name + ": " + error.message);
    };
    const Result<std::vector<CsvRow>> rows = read_csv(file.text);
    if (!rows) return named(rows.error());
    if (rows->empty()) continue;
    const Google2011 table = google_2011_table(rows->front());
    if (table == Google2011::No)
      return named(bad_line(rows->front().line,
                            "it is neither of task_events (13 columns), job_events (8), "
                            "machine_events (6)"));
    if (from.empty()) from = file.name;
    for (const CsvRow& row : *rows) {
      if (row.fields.size() != columns_of(table))
        return named(bad_line(row.line, "it has " + std::to_string(row.fields.size()) +
                                            " fields, not " + std::to_string(columns_of(table))));
      if (table == Google2011::Machines) {
        const Result<void> done = machine_event(row, options, machines, left_out);
        if (!done) return named(done.error());
        continue;
      }
      const bool task = table == Google2011::Tasks;
      const Result<GoogleEvent> event = task ? task_event(row) : job_event(row);
      if (!event) return named(event.error());
      (task ? tasks : jobs).add(*event);
    }
  }
  GoogleTasks& played = tasks.empty() ? jobs : tasks;
  if (!jobs.empty())
    played.note(tasks.empty()
                    ? "job_events do not tell of tasks: each job is one pod that asks for cpu " +
                          options.pod_cpu
                    : std::string("of job_events nothing is needed where task_events are"));
  for (const auto& [id, size] : machines) played.node("machine-" + std::to_string(id), size);
  Trace out = played.finish(from, options);
  left_out.tell(from, out.notes);
  return out;
}

}  // namespace krater::replay
