// Of the server's verbs: what Volcano's programs take as flags, under their names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/admission/settings.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace krater::cli {

struct VolcanoOptions {
  std::string scheduler_conf{};  // a file; empty: the ConfigMap below
  std::string scheduler_configmap =
      "volcano-system/volcano-scheduler-configmap/volcano-scheduler.conf";
  std::string admission_configmap =
      "volcano-system/volcano-admission-configmap/volcano-admission.conf";
  std::string schedule_period = "0s";  // between cycles, at least; 0s: they follow what happens
  std::vector<std::string> scheduler_names{};  // empty: volcano, and pods of default-scheduler
  std::string default_queue = "default";
  std::vector<std::string> node_selector{};  // KEY:VALUE each
  int max_queue_depth = 5;
  bool root_queue_protection = true;
  bool queue_allocated_pods_check = false;
};

void add_volcano_options(CLI::App& verb, VolcanoOptions& options);

// What became of them.
struct VolcanoChoices {
  std::string scheduler_conf{};                    // text
  std::vector<std::string> scheduler_configmap{};  // namespace, name, key
  std::vector<std::string> admission_configmap{};  // likewise
  Duration schedule_period{};
  std::vector<std::string> scheduler_names{};  // of Volcano
  bool takes_default_scheduler = true;         // its pods are placed too
  std::string default_queue{};
  std::vector<std::pair<std::string, std::string>> node_selector{};
};
// Code::BadRequest, with the option's name, for what cannot be.
Result<VolcanoChoices> read_volcano_options(const VolcanoOptions& options);
void apply(const VolcanoOptions& options, const VolcanoChoices& choices,
           api::AdmissionSettings& settings);

}  // namespace krater::cli
