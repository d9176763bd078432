// `krater simulate`: reads a workload, plays it, prints what came of it.
#include <cstdio>
#include <utility>

#include "cli/files.h"
#include "cli/options.h"
#include "replay/formats.h"
#include "replay/replay.h"

namespace krater::cli {
namespace {

Result<replay::Workload> read_workload(const SimulateOptions& options) {
  replay::TraceOptions nodes;
  nodes.nodes = options.nodes;
  nodes.nodes_given = options.nodes_given;
  const std::pair<const char*, const std::string&> amounts[] = {
      {"--cpu", options.cpu}, {"--memory", options.memory}, {"--pod-cpu", options.pod_cpu}};
  for (const auto& [name, text] : amounts) {
    const std::string wrong =
        replay::amount_problem(&text == &options.memory ? "memory" : "cpu", text);
    if (!wrong.empty())
      return make_error(Code::BadRequest, std::string(name) + " \"" + text + "\" " + wrong);
  }
  nodes.cpu = options.cpu;
  nodes.memory = options.memory;
  nodes.pod_cpu = options.pod_cpu;
  const std::optional<replay::Format> format = replay::format_named(options.format);
  if (!format) return make_error(Code::BadRequest, "--format " + options.format + " is not known");
  return replay::read_path(options.path, *format, nodes);
}

Result<void> simulate(const SimulateOptions& options) {
  replay::ReplayOptions how;
  how.seed = options.seed;
  const std::optional<Duration> until = parse_go_duration(options.until);
  if (!until || *until <= Duration(0))
    return make_error(Code::BadRequest,
                      "--until must be a time such as 24h, not \"" + options.until + "\"");
  how.until = *until;
  if (!options.config.empty()) {
    TRY_ASSIGN(how.config, read_file(options.config));
  }
  TRY_ASSIGN(const replay::Workload workload, read_workload(options));
  for (const std::string& note : workload.notes) std::fprintf(stderr, "krater: %s\n", note.c_str());
  for (const auto& [kind, count] : workload.ignored)
    std::fprintf(stderr, "krater: %lld of kind %s are not played\n", static_cast<long long>(count),
                 kind.c_str());
  if (workload.submissions.empty())
    return make_error(Code::BadRequest, options.path + ": there is no pod and no job in it");
  TRY_ASSIGN(const replay::Outcome outcome, replay::replay(workload, how));
  if (options.decisions) {
    for (const std::string& line : outcome.decisions) std::printf("%s\n", line.c_str());
  }
  const std::string out = options.json ? to_json(outcome.tally.report(outcome.lasted)) + "\n"
                                       : outcome.tally.text(outcome.lasted);
  std::fputs(out.c_str(), stdout);
  return {};
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  const Result<void> done = simulate(options);
  if (done) return 0;
  std::fprintf(stderr, "krater: %s\n", done.error().message.c_str());
  // What was given is no good: as for an option that is none.
  const Code code = done.error().code;
  return code == Code::BadRequest || code == Code::Invalid || code == Code::NotFound ? 2 : 1;
}

}  // namespace krater::cli
