// What readers of traces share: the jobs they find, amounts and times in text, and what is left
// out. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/workload.h"

namespace krater::replay {

struct PodShape {
  std::map<std::string, std::string> requests{};
  std::optional<Duration> run{};  // absent: until the end
};

// A job whose pods may differ; make_gang() makes its PodGroup and its pods.
struct GangShape {
  std::string name, name_space = "default", queue = "default";
  Duration at{};
  std::int64_t min = 1, priority = 0;
  std::vector<PodShape> pods{};
};
// Reported under `name` as given; the objects have names that Kubernetes allows.
Submission make_gang(const GangShape& shape);

Json node_object(const std::string& name, const NodeSize& size);

struct Trace {
  std::vector<GangShape> jobs{};
  std::vector<std::pair<std::string, NodeSize>> nodes{};  // where it tells of them
  std::vector<std::string> notes{};                       // for people: what was taken for granted
};
// The jobs, and of queues, priority classes and nodes what is not there yet. Code::BadRequest for a
// job that is there twice.
Result<void> add_trace(const Trace& trace, const TraceOptions& options, Workload& out);
// At least the nodes that `options` asks for, when the workload has none.
void add_nodes(const TraceOptions& options, Workload& out);

// "line 7: what".
Error bad_line(std::size_t line, const std::string& what);
// "submit is not a number: "x"".
Error bad_field(std::size_t line, std::string_view field, const std::string& problem,
                std::string_view text);

// A whole number within bounds, perhaps with zeros behind a point ("20.0").
Result<std::int64_t> whole_field(std::string_view text, std::size_t line, std::string_view field,
                                 std::int64_t least, std::int64_t most);
// Seconds, perhaps with a fraction; zero to a hundred years.
Result<Duration> seconds_field(std::string_view text, std::size_t line, std::string_view field);
// A quantity that somebody may ask for: zero to 10^6 cores, or 10^15 of anything else.
Result<std::string> amount_field(std::string_view text, std::size_t line, std::string_view field);
// The same for amounts outside of lines; "" when it is good.
std::string amount_problem(std::string_view resource, std::string_view text);
// A part of something, in 10^-9: "0.125", "9.155e-05"; zero to 10^6.
Result<std::int64_t> part_field(std::string_view text, std::size_t line, std::string_view field);

// `part` (10^-9) of an amount that parses: of "8" cores half is "4"; memory in bytes. Rounded up.
std::string part_of(std::string_view resource, std::string_view whole, std::int64_t part);

// What was left out, how often, where first.
class Skipped {
 public:
  void add(const std::string& why, std::size_t line);
  void tell(std::string_view file, std::vector<std::string>& notes) const;

 private:
  struct Seen {
    std::size_t count = 0, first = 0;
  };
  std::map<std::string, Seen> seen_;
};

// An RFC 1123 name made of anything; what is one already stays. "" stays empty.
std::string object_name(std::string_view text);

}  // namespace krater::replay
