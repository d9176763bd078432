#include "controllers/rayjob/submit_command.h"

#include <fmt/format.h>

#include "base/go_quote.h"
#include "base/strings.h"
#include "base/yaml.h"

namespace krater::controllers {
namespace {

// Sorted keys; <, > and & as Go's encoder writes them.
std::string go_json(const Json& value) {
  std::string out;
  for (const char c : to_json(with_sorted_keys(value))) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Needs nothing but the Python that Ray itself runs on.
std::string wait_loop(const std::string& address) {
  const std::string probe =
      "import sys, urllib.request as r; "
      "sys.exit(b'success' not in r.urlopen('" +
      address + "/api/gcs_healthz', timeout=10).read())";
  return "until python3 -c \"" + probe + "\" >/dev/null 2>&1 ; do echo " +
         go_quoted("Waiting for the Ray dashboard at " + address) + " ; sleep 2 ; done ;";
}

}  // namespace

Result<std::string> runtime_env_json(const RayJobView& job) {
  const std::string yaml = job.runtime_env_yaml();
  if (trim(yaml).empty()) return std::string();
  const Result<Json> parsed = parse_yaml(yaml);
  if (!parsed) return make_error(Code::Invalid, "runtimeEnvYAML: " + parsed.error().message);
  if (!parsed->is_object())
    return make_error(Code::Invalid, "runtimeEnvYAML must be a YAML mapping");
  return go_json(*parsed);
}

Result<std::string> submit_command(const RayJobView& job, const std::string& dashboard_url,
                                   const std::string& job_id) {
  const std::string address =
      dashboard_url.starts_with("http") ? dashboard_url : "http://" + dashboard_url;
  std::vector<std::string> words{
      wait_loop(address),       "if ! ray job status --address", address, job_id,
      ">/dev/null 2>&1 ; then", "ray job submit --address",      address, "--no-wait"};
  const auto option = [&words](std::string_view name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  TRY_ASSIGN(const std::string runtime_env, runtime_env_json(job));
  if (!runtime_env.empty()) option("--runtime-env-json", go_quoted(runtime_env));
  if (const Labels metadata = job.metadata(); !metadata.empty()) {
    option("--metadata-json", go_quoted(go_json(to_json_object(metadata))));
  }
  if (!job_id.empty()) option("--submission-id", job_id);
  if (job.entrypoint_cpus() > 0)
    option("--entrypoint-num-cpus", fmt::format("{:f}", job.entrypoint_cpus()));
  if (job.entrypoint_gpus() > 0)
    option("--entrypoint-num-gpus", fmt::format("{:f}", job.entrypoint_gpus()));
  if (const std::string resources = job.entrypoint_resources(); !resources.empty()) {
    option("--entrypoint-resources", go_quoted(resources));
  }
  words.emplace_back("--");
  words.emplace_back(trim(job.entrypoint()));
  words.insert(words.end(), {";", "fi ;", "ray job logs --address", address, "--follow", job_id});
  return join(words, " ");
}

}  // namespace krater::controllers
