#include "api/machinery/cells/cells.h"

#include <array>

#include "api/machinery/cells/webhook_cells.h"
#include "base/strings.h"
#include "model/selector.h"

namespace krater::api {
namespace {

struct Named {
  std::string_view name;
  CellFunction function;
};

constexpr std::array kCellFunctions{
    Named{"certificate_signing_request", cells::certificate_signing_request},
    Named{"config_map", cells::config_map},
    Named{"controller_revision", cells::controller_revision},
    Named{"created_at", cells::created_at},
    Named{"cron_job", cells::cron_job},
    Named{"csi_driver", cells::csi_driver},
    Named{"csi_node", cells::csi_node},
    Named{"csi_storage_capacity", cells::csi_storage_capacity},
    Named{"daemon_set", cells::daemon_set},
    Named{"deployment", cells::deployment},
    Named{"endpoint_slice", cells::endpoint_slice},
    Named{"endpoints", cells::endpoints},
    Named{"event", cells::event},
    Named{"horizontal_pod_autoscaler", cells::horizontal_pod_autoscaler},
    Named{"ingress", cells::ingress},
    Named{"ingress_class", cells::ingress_class},
    Named{"job", cells::job},
    Named{"lease", cells::lease},
    Named{"namespace", cells::name_space},
    Named{"network_policy", cells::network_policy},
    Named{"node", cells::node},
    Named{"persistent_volume", cells::persistent_volume},
    Named{"persistent_volume_claim", cells::persistent_volume_claim},
    Named{"pod", cells::pod},
    Named{"pod_disruption_budget", cells::pod_disruption_budget},
    Named{"pod_template", cells::pod_template},
    Named{"priority_class", cells::priority_class},
    Named{"replica_set", cells::replica_set},
    Named{"replication_controller", cells::replication_controller},
    Named{"resource_quota", cells::resource_quota},
    Named{"role", cells::role},
    Named{"role_binding", cells::role_binding},
    Named{"runtime_class", cells::runtime_class},
    Named{"secret", cells::secret},
    Named{"service", cells::service},
    Named{"service_account", cells::service_account},
    Named{"stateful_set", cells::stateful_set},
    Named{"storage_class", cells::storage_class},
    Named{"volume_attachment", cells::volume_attachment},
    Named{"validating_admission_policy", cells::validating_admission_policy},
    Named{"validating_admission_policy_binding", cells::validating_admission_policy_binding},
    Named{"webhook_configuration", cells::webhook_configuration},
};

}  // namespace

CellFunction find_cell_function(std::string_view name) {
  for (const Named& entry : kCellFunctions) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

namespace cells {

std::string name(const Json& object) {
  return text_at(object, {"metadata", "name"});
}

std::string since(std::string_view time, WallTime now) {
  const auto parsed = parse_rfc3339(time);
  return parsed ? human_duration(now - *parsed) : "<unknown>";
}

std::string age(const Json& object, WallTime now) {
  return since(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string label_list(const Json* labels) {
  std::string out;
  for (const auto& [key, value] : string_map(labels)) {
    if (!out.empty()) out += ',';
    out += key + '=' + value;
  }
  return or_none(std::move(out));
}

std::string or_none(std::string text) {
  return text.empty() ? "<none>" : text;
}

std::string selector_text(const Json* selector) {
  if (selector == nullptr) return "<none>";
  const Result<LabelSelector> parsed = LabelSelector::from_object(*selector);
  return parsed ? or_none(parsed->text()) : "<error>";
}

std::string container_fields(const Json* pod_template, std::string_view field) {
  std::vector<std::string> out;
  if (pod_template == nullptr) return {};
  if (const JsonArray* containers = array_at(*pod_template, {"spec", "containers"})) {
    for (const Json& container : *containers) out.push_back(text_at(container, {field}));
  }
  return join(out, ",");
}

std::string condition_status(const Json& object, std::string_view type) {
  const JsonArray* conditions = array_at(object, {"status", "conditions"});
  if (conditions == nullptr) return {};
  for (const Json& condition : *conditions) {
    if (text_at(condition, {"type"}) == type) return text_at(condition, {"status"});
  }
  return {};
}

}  // namespace cells
}  // namespace krater::api
