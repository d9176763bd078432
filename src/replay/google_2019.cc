#include <array>
#include <functional>

#include "base/strings.h"
#include "replay/google.h"
#include "replay/readers.h"

namespace krater::replay {
namespace {

// As in the trace's EventType, by number or by name.
constexpr std::array<std::string_view, 11> kTypes{
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE",       "EVICT",         "FAIL",
    "FINISH", "KILL",  "LOST",   "UPDATE_PENDING", "UPDATE_RUNNING"};
constexpr std::int64_t kSchedule = 3, kEvict = 4, kLost = 8;

GoogleStep step_of(std::int64_t type) {
  if (type == 0) return GoogleStep::Submit;
  if (type == kSchedule) return GoogleStep::Schedule;
  return type >= kEvict && type <= kLost ? GoogleStep::End : GoogleStep::Other;
}

// The fields of one event by their names, whatever they were written in; "" for what is not there.
using Field = std::function<std::string(std::string_view)>;

std::string first_of(const Field& field, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (std::string text = field(name); !text.empty()) return text;
  }
  return "";
}

Result<std::int64_t> type_of(const std::string& text, std::size_t line) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (text == kTypes[i]) return static_cast<std::int64_t>(i);
  }
  return whole_field(text.empty() ? "0" : text, line, "type", 0, 10);
}

Result<std::int64_t> id_of(const std::string& text, std::size_t line, std::string_view name) {
  return whole_field(text, line, name, 0, std::numeric_limits<std::int64_t>::max());
}

// {'cpus': 0.02, 'memory': 0.014}, as some exports print the record.
std::string in_record(std::string_view record, std::string_view name) {
  const std::size_t at = record.find("'" + std::string(name) + "':");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = record.substr(at + name.size() + 3);
  const std::string_view value = trim(rest.substr(0, rest.find_first_of(",}")));
  return value == "None" ? "" : std::string(value);
}

struct Read {
  GoogleEvent event{};
  bool instance = false, job = true;  // else of a collection; else an alloc set
};

Result<Read> read_event(const Field& field, std::size_t line) {
  Read out{{line}};
  TRY_ASSIGN(out.event.at, google_time(field("time"), line));
  TRY_ASSIGN(const std::int64_t type,
             type_of(first_of(field, {"type", "instance_events_type"}), line));
  out.event.step = step_of(type);
  TRY_ASSIGN(out.event.job, id_of(field("collection_id"), line, "collection_id"));
  const std::string collection = field("collection_type");
  out.job = collection.empty() || collection == "0" || collection == "JOB";
  if (const std::string index = field("instance_index"); !index.empty()) {
    out.instance = true;
    TRY_ASSIGN(out.event.index, id_of(index, line, "instance_index"));
  }
  if (const std::string priority = field("priority"); !priority.empty()) {
    TRY_ASSIGN(out.event.priority, whole_field(priority, line, "priority", 0, 1'000'000));
  }
  const std::string record = field("resource_request");
  std::string cpu = first_of(field, {"resource_request.cpus", "resource_request_cpus"});
  std::string memory = first_of(field, {"resource_request.memory", "resource_request_memory"});
  if (cpu.empty()) cpu = in_record(record, "cpus");
  if (memory.empty()) memory = in_record(record, "memory");
  if (!cpu.empty()) {
    TRY_ASSIGN(out.event.cpu, part_field(cpu, line, "resource_request.cpus"));
  }
  if (!memory.empty()) {
    TRY_ASSIGN(out.event.memory, part_field(memory, line, "resource_request.memory"));
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const TraceOptions& options) : options_(options) {}

  Result<void> add(const Field& field, std::size_t line) {
    TRY_ASSIGN(const Read read, read_event(field, line));
    if (!read.job) {
      instances_.skipped().add("alloc sets are left out", line);
      return {};
    }
    (read.instance ? instances_ : collections_).add(read.event);
    return {};
  }

  Result<void> add_csv(std::string_view text) {
    TRY_ASSIGN(const std::vector<CsvRow> rows, read_csv(text));
    if (rows.empty()) return {};
    const std::vector<std::string>& names = rows.front().fields;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const std::vector<std::string>& fields = rows[i].fields;
      if (fields.size() > names.size())
        return bad_line(rows[i].line, "it has " + std::to_string(fields.size()) +
                                          " fields, the first line names " +
                                          std::to_string(names.size()));
      const Field field = [&names, &fields](std::string_view name) {
        for (std::size_t k = 0; k < names.size() && k < fields.size(); ++k) {
          if (names[k] == name) return fields[k];
        }
        return std::string();
      };
      TRY(add(field, rows[i].line));
    }
    return {};
  }

  Result<void> add_json(std::string_view text) {
    for (const JsonPiece& piece : json_pieces(text)) {
      const Result<Json> value = parse_json(piece.text);
      if (!value) return bad_line(piece.line, value.error().message);
      const JsonArray one{*value};
      for (const Json& object : value->is_array() ? value->get_array() : one)
        TRY(add([&object](std::string_view name) { return text_of(object, name); }, piece.line));
    }
    return {};
  }

  Trace finish(const std::string& file) {
    GoogleTasks& played = instances_.empty() ? collections_ : instances_;
    if (!collections_.empty())
      played.note(instances_.empty()
                      ? "collection_events do not tell of tasks: each job is one pod that asks for "
                        "cpu " +
                            options_.pod_cpu
                      : std::string("of collection_events nothing is needed where instance_events "
                                    "are"));
    return played.finish(file, options_);
  }

 private:
  // Numbers come as numbers or as texts.
  static std::string text_of(const Json& object, std::string_view name) {
    const std::size_t point = name.find('.');
    const Json* value = point == std::string_view::npos
                            ? find(object, {name})
                            : find(object, {name.substr(0, point), name.substr(point + 1)});
    if (value == nullptr || value->is_null() || value->is_object() || value->is_array()) return "";
    if (value->is_string()) return std::string(view(value->get_string()));
    return to_json(*value);
  }

  const TraceOptions& options_;
  GoogleTasks instances_, collections_;
};

}  // namespace

bool is_google_2019_csv(const CsvRow& first) {
  for (const std::string& name : first.fields) {
    if (name == "collection_id") return true;
  }
  return false;
}

bool is_google_2019_json(const Json& first) {
  if (first.is_array())
    return !first.get_array().empty() && is_google_2019_json(first.get_array()[0]);
  return first.is_object() && first.get_object().contains("collection_id");
}

Result<Trace> read_google_2019(const std::vector<TraceFile>& files, const TraceOptions& options) {
  Reader reader(options);
  for (const TraceFile& file : files) {
    const std::string_view text = trim(file.text);
    const bool json = !text.empty() && (text.front() == '{' || text.front() == '[');
    const Result<void> done = json ? reader.add_json(file.text) : reader.add_csv(file.text);
    if (!done) return make_error(Code::BadRequest, file.name + ": " + done.error().message);
  }
  return reader.finish(files.empty() ? "" : files.front().name);
}

}  // namespace krater::replay
