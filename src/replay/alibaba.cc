#include <algorithm>
#include <array>
#include <optional>

#include "base/strings.h"
#include "replay/readers.h"

namespace krater::replay {
namespace {

constexpr std::int64_t kMostPods = 100'000;

enum class Memory { Part, Percent, Gigabytes };  // of a machine's, or as it is

// Columns as the traces' schemas have them. What differs is named: `job`, `count`, `at`, `until`.
struct Table {
  std::size_t columns, task, job, count, status, at, until, cpu, memory;
  std::optional<std::size_t> gpu;
  std::string_view first_name;  // of a row of names
  Memory memory_unit;
};
constexpr Table k2018{9, 0, 2, 1, 4, 5, 6, 7, 8, std::nullopt, "task_name", Memory::Percent};
constexpr Table k2017{8, 3, 2, 4, 5, 0, 1, 6, 7, std::nullopt, "create_timestamp", Memory::Part};
constexpr Table k2020{10, 1, 0, 2, 3, 4, 5, 6, 7, 8, "job_name", Memory::Gigabytes};

constexpr std::array<std::string_view, 9> kStatus{"Terminated", "Failed",      "Running",
                                                  "Waiting",    "Interrupted", "Cancelled",
                                                  "Ready",      "Paused",      "Succeeded"};

bool has_names(const Table& table, const CsvRow& row) {
  return to_lower(row.fields.front()) == table.first_name;
}

const Table* table_of(const CsvRow& row) {
  for (const Table* table : {&k2018, &k2017, &k2020}) {
    if (row.fields.size() != table->columns) continue;
    if (has_names(*table, row)) return table;
    if (std::find(kStatus.begin(), kStatus.end(), row.fields[table->status]) != kStatus.end())
      return table;
  }
  return nullptr;
}

// As the fields are written: "j_1", "M1". A line more, as tasks of a job may be named alike.
std::string name_of(const std::string& job, const std::string& task, std::size_t line) {
  std::string out = to_lower(job + "-" + task + "-" + std::to_string(line));
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

class Reader {
 public:
  Reader(const Table& table, const TraceOptions& options) : table_(table), options_(options) {}

  Result<void> add(const CsvRow& row) {
    if (row.fields.size() != table_.columns)
      return bad_line(row.line, "it has " + std::to_string(row.fields.size()) + " fields, not " +
                                    std::to_string(table_.columns));
    const std::string &status = row.fields[table_.status], &from = row.fields[table_.at],
                      &until = row.fields[table_.until];
    if (status == "Waiting" || status == "Ready" || from.empty()) {
      skipped_.add("tasks that had not begun are left out, nobody knows how long they run",
                   row.line);
      return {};
    }
    GangShape job;
    job.name = name_of(row.fields[table_.job], row.fields[table_.task], row.line);
    TRY_ASSIGN(job.at, seconds_field(from, row.line, "start_time"));
    Duration end{};
    if (!until.empty()) {
      TRY_ASSIGN(end, seconds_field(until, row.line, "end_time"));
    }
    PodShape pod;
    if (end > Duration(0)) {
      if (end < job.at) {
        skipped_.add("tasks that end before they begin are left out", row.line);
        return {};
      }
      // Seconds are as fine as it gets.
      pod.run = std::max<Duration>(end - job.at, std::chrono::seconds(1));
    } else if (status == "Running") {
      skipped_.add("tasks still run in the trace, they run until the end", row.line);
    } else {
      skipped_.add("tasks without an end_time that do not run are left out", row.line);
      return {};
    }
    TRY_ASSIGN(const std::int64_t pods,
               whole_field(row.fields[table_.count], row.line, "instance_num", 1, kMostPods));
    TRY(add_requests(row, pod));
    job.min = pods;
    job.pods.assign(static_cast<std::size_t>(pods), pod);
    out_.jobs.push_back(std::move(job));
    return {};
  }

  Trace finish(const std::string& file) {
    skipped_.tell(file, out_.notes);
    return std::move(out_);
  }

 private:
  Result<void> add_requests(const CsvRow& row, PodShape& pod) {
    std::int64_t cores = 1'000'000'000;
    if (const std::string& cpu = row.fields[table_.cpu]; !cpu.empty()) {
      TRY_ASSIGN(const std::int64_t percent, part_field(cpu, row.line, "plan_cpu"));
      cores = percent / 100;
    } else {
      skipped_.add("plan_cpu is empty, they ask for a core", row.line);
    }
    pod.requests["cpu"] = part_of("cpu", "1", cores);
    if (const std::string& memory = row.fields[table_.memory]; !memory.empty()) {
      TRY_ASSIGN(const std::int64_t part, part_field(memory, row.line, "plan_mem"));
      pod.requests["memory"] =
          table_.memory_unit == Memory::Gigabytes
              ? part_of("memory", "1Gi", part)
              : part_of("memory", options_.memory,
                        table_.memory_unit == Memory::Part ? part : part / 100);
    }
    if (!table_.gpu || row.fields[*table_.gpu].empty()) return {};
    TRY_ASSIGN(const std::int64_t percent,
               part_field(row.fields[*table_.gpu], row.line, "plan_gpu"));
    if (percent % 100'000'000'000 != 0)
      skipped_.add("parts of GPUs are asked for, they get whole ones", row.line);
    if (percent > 0)
      pod.requests["nvidia.com/gpu"] = std::to_string((percent + 99'999'999'999) / 100'000'000'000);
    return {};
  }

  const Table& table_;
  const TraceOptions& options_;
  Trace out_;
  Skipped skipped_;
};

}  // namespace

bool is_alibaba(const CsvRow& first) {
  return table_of(first) != nullptr;
}

Result<Trace> read_alibaba(const std::string& file, const std::vector<CsvRow>& rows,
                           const TraceOptions& options) {
  if (rows.empty()) return make_error(Code::BadRequest, "there is no line in it");
  const Table* table = table_of(rows.front());
  if (table == nullptr)
    return bad_line(rows.front().line,
                    "it is no table of Alibaba's tasks: 9 columns (2018), 8 (2017) or 10 (2020), "
                    "with a status");
  Reader reader(*table, options);
  for (std::size_t i = has_names(*table, rows.front()) ? 1 : 0; i < rows.size(); ++i)
    TRY(reader.add(rows[i]));
  return reader.finish(file);
}

}  // namespace krater::replay
