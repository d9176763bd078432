// The readers of traces, a format each, and of logs. Pure; errors name the line, and the file where
// there are several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/csv.h"
#include "replay/trace.h"

namespace krater::replay {

struct TraceFile {
  std::string name, text;
};

// Our own columns: submit, run, cpu, ...; the first row names them.
bool names_columns(const CsvRow& first);
Result<Trace> read_columns(const std::vector<CsvRow>& rows);

// Alibaba's tables of tasks, with or without a row of names: batch_task of 2018 (9 columns) and
// 2017 (8 columns), pai_task_table of 2020 (10 columns).
bool is_alibaba(const CsvRow& first);
Result<Trace> read_alibaba(const std::string& file, const std::vector<CsvRow>& rows,
                           const TraceOptions& options);

// Google's ClusterData of 2011: task_events (13 columns without names), job_events (8),
// machine_events (6). Amounts are parts of the largest machine, which is one of `options`.
enum class Google2011 { No, Tasks, Jobs, Machines };
Google2011 google_2011_table(const CsvRow& first);
Result<Trace> read_google_2011(const std::vector<TraceFile>& files, const TraceOptions& options);
// Google's ClusterData of 2019: instance_events and collection_events as CSV with names or as JSON,
// an object each.
bool is_google_2019_csv(const CsvRow& first);
bool is_google_2019_json(const Json& first);
Result<Trace> read_google_2019(const std::vector<TraceFile>& files, const TraceOptions& options);

// The scheduler's decision log (scheduler/decisions.h), with kubectl's timestamps, with the seconds
// of a simulation, or with neither: then everybody comes at once.
bool is_decision(std::string_view line);
Result<Trace> read_decision_log(const std::string& file, std::string_view text,
                                const TraceOptions& options);

// JSON values that follow each other, each with the line where it begins: lines of JSON, what
// `kubectl get -w -o json` prints.
struct JsonPiece {
  std::size_t line = 0;
  std::string_view text{};
};
std::vector<JsonPiece> json_pieces(std::string_view text);

// Volcano's PodGroup of a Job is named after it and its uid; the name without the uid.
std::string_view without_uid(std::string_view name);

}  // namespace krater::replay
