#include "cli/volcano_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/strings.h"
#include "cli/files.h"
#include "model/keys.h"

namespace krater::cli {
namespace {

Error wrong(const std::string& option, const std::string& what, const std::string& given) {
  return make_error(Code::BadRequest, option + " must be " + what + ", not \"" + given + "\"");
}

Result<std::vector<std::string>> config_map_place(const std::string& option,
                                                  const std::string& given) {
  std::vector<std::string> out;
  for (const std::string_view part : split(given, '/')) out.emplace_back(part);
  if (out.size() != 3 ||
      std::any_of(out.begin(), out.end(), [](const std::string& part) { return part.empty(); }))
    return wrong(option, "NAMESPACE/NAME/KEY", given);
  return out;
}

Result<std::pair<std::string, std::string>> label(const std::string& given) {
  const std::size_t colon = given.find(':');
  if (colon == std::string::npos) return wrong("--node-selector", "KEY:VALUE", given);
  std::pair<std::string, std::string> out(trim(given.substr(0, colon)),
                                          trim(given.substr(colon + 1)));
  if (out.first.empty() || out.second.empty()) return wrong("--node-selector", "KEY:VALUE", given);
  return out;
}

void add_scheduler_options(CLI::App& verb, VolcanoOptions& options) {
  verb.add_option("--scheduler-conf", options.scheduler_conf,
                  "scheduler configuration in Volcano's format, read again when it changes "
                  "(default: the ConfigMap volcano-scheduler-configmap)")
      ->check(CLI::ExistingFile);
  verb.add_option("--scheduler-configmap", options.scheduler_configmap,
                  "NAMESPACE/NAME/KEY of the scheduler's configuration; while it exists it is in "
                  "force, and changes of it count at once")
      ->capture_default_str();
  verb.add_option("--schedule-period", options.schedule_period,
                  "time between the beginnings of two scheduling cycles, at least; what comes "
                  "meanwhile is seen together (Volcano: 1s; default: cycles follow what happens)")
      ->capture_default_str();
  verb.add_option("--scheduler-name", options.scheduler_names,
                  "schedulerName of the pods that are placed here, and of no others; may be given "
                  "more than once, the first is that of jobs that name none (default: volcano, "
                  "and pods of default-scheduler)")
      ->allow_extra_args(false);
  verb.add_option("--default-queue", options.default_queue,
                  "queue of jobs, pod groups and pods that name none; it is made if missing")
      ->capture_default_str();
  verb.add_option("--node-selector", options.node_selector,
                  "KEY:VALUE; pods are placed only on nodes with this label, or one of these; may "
                  "be given more than once, or separated by commas (default: all nodes)")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_webhook_options(CLI::App& verb, VolcanoOptions& options) {
  verb.add_option("--admission-configmap", options.admission_configmap,
                  "NAMESPACE/NAME/KEY of the resource groups that new pods are put into, in "
                  "Volcano's format; changes of it count at once")
      ->capture_default_str();
  verb.add_option("--max-queue-depth", options.max_queue_depth, "levels of queues below root")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb.add_flag("--enable-root-queue-protection", options.root_queue_protection,
                "whether capability, deserved and guarantee of queue root stay as they are "
                "(default: true)");
  verb.add_flag("--enable-queue-allocated-pods-check", options.queue_allocated_pods_check,
                "refuse to delete a queue that has allocated pods");
}

}  // namespace

void add_volcano_options(CLI::App& verb, VolcanoOptions& options) {
  add_scheduler_options(verb, options);
  add_webhook_options(verb, options);
}

Result<VolcanoChoices> read_volcano_options(const VolcanoOptions& options) {
  VolcanoChoices out;
  if (!options.scheduler_conf.empty()) {
    TRY_ASSIGN(out.scheduler_conf, read_file(options.scheduler_conf));
  }
  TRY_ASSIGN(out.scheduler_configmap,
             config_map_place("--scheduler-configmap", options.scheduler_configmap));
  TRY_ASSIGN(out.admission_configmap,
             config_map_place("--admission-configmap", options.admission_configmap));
  const std::optional<Duration> period = parse_go_duration(options.schedule_period);
  if (!period || *period < Duration(0))
    return wrong("--schedule-period", "a time such as 1s", options.schedule_period);
  out.schedule_period = *period;
  out.scheduler_names = options.scheduler_names;
  out.takes_default_scheduler = out.scheduler_names.empty();
  if (out.scheduler_names.empty()) out.scheduler_names = {std::string(keys::kVolcanoScheduler)};
  for (const std::string& name : out.scheduler_names) {
    if (name.empty()) return wrong("--scheduler-name", "a name", name);
  }
  out.default_queue = options.default_queue;
  if (out.default_queue.empty() || out.default_queue == keys::kRootQueue)
    return wrong("--default-queue", "the name of a queue below root", out.default_queue);
  for (const std::string& one : options.node_selector) {
    TRY_ASSIGN(auto wanted, label(one));
    out.node_selector.push_back(std::move(wanted));
  }
  return out;
}

void apply(const VolcanoOptions& options, const VolcanoChoices& choices,
           api::AdmissionSettings& settings) {
  settings.scheduler_names = choices.scheduler_names;
  settings.default_queue = choices.default_queue;
  settings.max_queue_depth = options.max_queue_depth;
  settings.protects_root_queue = options.root_queue_protection;
  settings.keeps_queues_with_pods = options.queue_allocated_pods_check;
}

}  // namespace krater::cli
