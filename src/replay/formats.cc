#include "replay/formats.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"

namespace krater::replay {
namespace {

struct Known {
  Format format;
  std::string_view name, what;
};
constexpr std::array<Known, 7> kFormats{{
    {Format::Objects, "objects", "no apiVersion and kind of Kubernetes in it"},
    {Format::Events, "events", "no Event of Kubernetes in it"},
    {Format::Columns, "csv", "the first line does not name a column submit"},
    {Format::Alibaba, "alibaba",
     "not the columns of batch_task (2018: 9, 2017: 8) or pai_task_table (10)"},
    {Format::Google2011, "google-2011",
     "not the columns of task_events (13), job_events (8) or machine_events (6)"},
    {Format::Google2019, "google-2019", "no collection_id in its first line"},
    {Format::Log, "log", "no line with action= and verdict= in it"},
}};

constexpr std::size_t kLinesLookedAt = 10'000;

// What a file looks like; what it is wanted to be comes from outside.
struct Look {
  bool json = false;
  std::optional<Json> first{};  // the first value, where it is JSON
  std::optional<CsvRow> row{};  // the first row, where it can be one
  bool object = false, event = false, decision = false;
};

bool object_line(std::string_view line) {
  for (const std::string_view key : {"apiVersion", "kind", "items"}) {
    for (const std::string_view begin : {"", "- ", "\""}) {
      const std::string wanted = std::string(begin) + std::string(key);
      if (!line.starts_with(wanted)) continue;
      const std::string_view rest = line.substr(wanted.size());
      if (rest.starts_with(":") || rest.starts_with("\":") || rest.starts_with(" :")) return true;
    }
  }
  return false;
}

void look_at_json(const Json& value, Look& out) {
  if (value.is_array()) {
    for (const Json& one : value.get_array()) look_at_json(one, out);
    return;
  }
  if (!value.is_object()) return;
  out.object =
      out.object || find(value, {"kind"}) != nullptr || array_at(value, {"items"}) != nullptr;
  out.event = out.event || text_at(value, {"kind"}).starts_with("Event");
  const JsonArray* items = array_at(value, {"items"});
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i)
    out.event = out.event || text_at((*items)[i], {"kind"}) == "Event";
}

Look look_at(const TraceFile& file) {
  Look out;
  const std::string_view text = trim(file.text);
  out.json = !text.empty() && (text.front() == '{' || text.front() == '[');
  if (out.json) {
    for (const JsonPiece& piece : json_pieces(file.text)) {
      const Result<Json> value = parse_json(piece.text);
      if (!value) break;
      if (!out.first) out.first = *value;
      look_at_json(*value, out);
      if ((out.object && out.event) || is_google_2019_json(*out.first)) break;
    }
    // YAML that begins with a bracket, or JSON that is cut off.
    out.object = out.object || (!out.first && text.find("kind") != text.npos);
    return out;
  }
  std::size_t lines = 0;
  for (const std::string_view line : split(file.text, '\n')) {
    if (++lines > kLinesLookedAt) break;
    out.object = out.object || object_line(line);
    out.event = out.event || trim(line) == "kind: Event";
    out.decision = out.decision || is_decision(line);
    if (out.row || trim(line).empty() || trim(line).starts_with("#")) continue;
    const Result<std::vector<CsvRow>> rows = read_csv(line);
    out.row = rows && !rows->empty() ? rows->front() : CsvRow{1, {""}};
  }
  return out;
}

bool fits(const Look& look, Format format) {
  switch (format) {
    case Format::Auto:
      return false;
    case Format::Objects:
      return look.object;
    case Format::Events:
      return look.object && look.event;
    case Format::Columns:
      return look.row && names_columns(*look.row);
    case Format::Alibaba:
      return look.row && is_alibaba(*look.row);
    case Format::Google2011:
      return look.row && google_2011_table(*look.row) != Google2011::No;
    case Format::Google2019:
      return look.json ? look.first && is_google_2019_json(*look.first)
                       : look.row && is_google_2019_csv(*look.row);
    case Format::Log:
      return look.decision;
  }
  return false;
}

// Traces first: what they look for is not met with by chance.
std::optional<Format> format_of(const Look& look) {
  for (const Format format : {Format::Google2019, Format::Columns, Format::Alibaba,
                              Format::Google2011, Format::Log, Format::Objects}) {
    if (fits(look, format)) return format;
  }
  return std::nullopt;
}

std::string why_not(const TraceFile& file, std::optional<Format> wanted) {
  std::string out = file.name + ": it is nothing that can be read (";
  bool more = false;
  for (const Known& known : kFormats) {
    if (wanted ? known.format != *wanted : known.format == Format::Events) continue;
    out += std::string(more ? "; " : "") + std::string(known.name) + ": " + std::string(known.what);
    more = true;
  }
  return out + ")";
}

Error bad_file(const TraceFile& file, const std::string& what) {
  return make_error(Code::BadRequest, file.name + ": " + what);
}

Result<void> unwrap(TraceFile& file) {
  std::string& text = file.text;
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.starts_with("\x1f\x8b"))
    return bad_file(file, "it is compressed (gzip): unpack it first");
  if (text.starts_with("PK\x03\x04"))
    return bad_file(file, "it is an archive (zip): unpack it first");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return bad_file(file, "it is UTF-16: write it as UTF-8");
  if (text.find('\0') != std::string::npos) return bad_file(file, "it is no text");
  return {};
}

bool claims_text(const std::string& name) {
  const std::string extension = to_lower(std::filesystem::path(name).extension().string());
  constexpr std::array<std::string_view, 4> kTexts{".yaml", ".yml", ".json", ".csv"};
  return std::find(kTexts.begin(), kTexts.end(), extension) != kTexts.end();
}

Result<Trace> read_single(const TraceFile& file, Format format, const TraceOptions& options) {
  if (format == Format::Log) return read_decision_log(file.name, file.text, options);
  TRY_ASSIGN(const std::vector<CsvRow> rows, read_csv(file.text));
  return format == Format::Columns ? read_columns(rows) : read_alibaba(file.name, rows, options);
}

Result<void> add_traces(const std::vector<TraceFile>& files, Format format,
                        const TraceOptions& options, Workload& out) {
  if (format == Format::Google2011 || format == Format::Google2019) {
    TRY_ASSIGN(const Trace trace, format == Format::Google2011 ? read_google_2011(files, options)
                                                               : read_google_2019(files, options));
    return add_trace(trace, options, out);
  }
  for (const TraceFile& file : files) {
    const Result<Trace> trace = read_single(file, format, options);
    if (!trace) return bad_file(file, trace.error().message);
    const Result<void> added = add_trace(*trace, options, out);
    if (!added) return bad_file(file, added.error().message);
  }
  return {};
}

}  // namespace

std::optional<Format> format_named(std::string_view name) {
  if (name == "auto") return Format::Auto;
  for (const Known& known : kFormats) {
    if (name == known.name) return known.format;
  }
  return std::nullopt;
}

std::vector<std::string> format_names() {
  std::vector<std::string> out{"auto"};
  for (const Known& known : kFormats) out.emplace_back(known.name);
  return out;
}

Result<Workload> read_files(std::vector<TraceFile> files, Format wanted,
                            const TraceOptions& options) {
  std::vector<TraceFile> objects, traces;
  std::optional<Format> trace_format;
  std::string trace_name;
  for (TraceFile& file : files) {
    TRY(unwrap(file));
    if (trim(file.text).empty()) continue;
    const Look look = look_at(file);
    std::optional<Format> format = format_of(look);
    // In a directory objects may stand beside the trace that is wanted.
    const bool beside = files.size() > 1 && format == Format::Objects;
    if (wanted != Format::Auto && !beside) {
      if (!fits(look, wanted)) return make_error(Code::BadRequest, why_not(file, wanted));
      format = wanted;
    }
    if (!format) return make_error(Code::BadRequest, why_not(file, std::nullopt));
    if (*format == Format::Objects || *format == Format::Events) {
      objects.push_back(std::move(file));
      continue;
    }
    if (trace_format && *trace_format != *format)
      return bad_file(file, "it is a trace of another kind than " + trace_name);
    trace_format = format;
    trace_name = file.name;
    traces.push_back(std::move(file));
  }
  if (objects.empty() && traces.empty())
    return make_error(Code::BadRequest, "there is nothing in it");
  TRY_ASSIGN(Workload out, read_objects(objects, options));
  if (trace_format) {
    TRY(add_traces(traces, *trace_format, options, out));
    add_nodes(options, out);
  }
  sort_by_time(out);
  return out;
}

Result<Workload> read_path(const std::string& path, Format format, const TraceOptions& options) {
  std::error_code failed;
  std::set<std::string> names;
  const bool directory = std::filesystem::is_directory(path, failed);
  if (directory) {
    for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
      const bool hidden = entry.path().filename().string().starts_with(".");
      if (!hidden && entry.is_regular_file()) names.insert(entry.path().string());
    }
    if (failed) return make_error(Code::NotFound, path + ": " + failed.message());
    if (names.empty()) return make_error(Code::NotFound, path + ": there is no file in it");
  } else {
    names.insert(path);
  }
  std::vector<TraceFile> files;
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    std::ifstream in(name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) return make_error(Code::NotFound, name + ": it cannot be read");
    TraceFile file{name, text.str()};
    if (directory && !claims_text(name) && !format_of(look_at(file))) {
      notes.push_back(name + " is left out: it is nothing that can be read");
      continue;
    }
    files.push_back(std::move(file));
  }
  if (files.empty())
    return make_error(Code::NotFound, path + ": there is nothing in it that can be read");
  TRY_ASSIGN(Workload out, read_files(std::move(files), format, options));
  out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace krater::replay
