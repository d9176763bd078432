#include "api/machinery/rules/rules.h"

#include <algorithm>
#include <array>

namespace krater::api {
namespace {

template <typename Function>
struct Named {
  std::string_view name;
  Function function;
};

constexpr std::array kValidationRules{
    Named<ValidationRule>{"autoscaler_spec", rules::autoscaler_spec},
    Named<ValidationRule>{"autoscaler_v1_spec", rules::autoscaler_v1_spec},
    Named<ValidationRule>{"certificate_signing_request", rules::certificate_signing_request},
    Named<ValidationRule>{"cluster_role_binding", rules::cluster_role_binding},
    Named<ValidationRule>{"config_map", rules::config_map},
    Named<ValidationRule>{"container", rules::container},
    Named<ValidationRule>{"controller_revision", rules::controller_revision},
    Named<ValidationRule>{"cron_job", rules::cron_job},
    Named<ValidationRule>{"daemon_set_spec", rules::daemon_set_spec},
    Named<ValidationRule>{"deployment_spec", rules::deployment_spec},
    Named<ValidationRule>{"disruption_budget_spec", rules::disruption_budget_spec},
    Named<ValidationRule>{"downward_field", rules::downward_field},
    Named<ValidationRule>{"downward_file", rules::downward_file},
    Named<ValidationRule>{"downward_resource", rules::downward_resource},
    Named<ValidationRule>{"endpoint_slice", rules::endpoint_slice},
    Named<ValidationRule>{"endpoint_subset", rules::endpoint_subset},
    Named<ValidationRule>{"env_from", rules::env_from},
    Named<ValidationRule>{"env_var", rules::env_var},
    Named<ValidationRule>{"env_var_source", rules::env_var_source},
    Named<ValidationRule>{"event", rules::event},
    Named<ValidationRule>{"event_v1", rules::event_v1},
    Named<ValidationRule>{"hyper_node_spec", rules::hyper_node_spec},
    Named<ValidationRule>{"ingress_class_spec", rules::ingress_class_spec},
    Named<ValidationRule>{"ingress_spec", rules::ingress_spec},
    Named<ValidationRule>{"job", rules::job},
    Named<ValidationRule>{"label_selector", rules::label_selector},
    Named<ValidationRule>{"limit_range_spec", rules::limit_range_spec},
    Named<ValidationRule>{"network_policy_spec", rules::network_policy_spec},
    Named<ValidationRule>{"node_selector_requirement", rules::node_selector_requirement},
    Named<ValidationRule>{"node_spec", rules::node_spec},
    Named<ValidationRule>{"node_status", rules::node_status},
    Named<ValidationRule>{"object_meta", rules::object_meta},
    Named<ValidationRule>{"one_handler", rules::one_handler},
    Named<ValidationRule>{"persistent_volume_claim", rules::persistent_volume_claim},
    Named<ValidationRule>{"persistent_volume_spec", rules::persistent_volume_spec},
    Named<ValidationRule>{"pod", rules::pod},
    Named<ValidationRule>{"pod_spec", rules::pod_spec},
    Named<ValidationRule>{"policy_rule", rules::policy_rule},
    Named<ValidationRule>{"priority_class", rules::priority_class},
    Named<ValidationRule>{"probe", rules::probe},
    Named<ValidationRule>{"ray_cron_job", rules::ray_cron_job},
    Named<ValidationRule>{"ray_deletion_condition", rules::ray_deletion_condition},
    Named<ValidationRule>{"ray_deletion_strategy", rules::ray_deletion_strategy},
    Named<ValidationRule>{"ray_gcs_backend", rules::ray_gcs_backend},
    Named<ValidationRule>{"ray_managed_by", rules::ray_managed_by},
    Named<ValidationRule>{"ray_service", rules::ray_service},
    Named<ValidationRule>{"rbac_subject", rules::rbac_subject},
    Named<ValidationRule>{"replica_set_spec", rules::replica_set_spec},
    Named<ValidationRule>{"replication_controller_spec", rules::replication_controller_spec},
    Named<ValidationRule>{"resource_quota_spec", rules::resource_quota_spec},
    Named<ValidationRule>{"resource_requirements", rules::resource_requirements},
    Named<ValidationRule>{"role", rules::role},
    Named<ValidationRule>{"role_binding", rules::role_binding},
    Named<ValidationRule>{"runtime_class_overhead", rules::runtime_class_overhead},
    Named<ValidationRule>{"runtime_class_scheduling", rules::runtime_class_scheduling},
    Named<ValidationRule>{"secret", rules::secret},
    Named<ValidationRule>{"service_port", rules::service_port},
    Named<ValidationRule>{"service_spec", rules::service_spec},
    Named<ValidationRule>{"stateful_set_spec", rules::stateful_set_spec},
    Named<ValidationRule>{"storage_class", rules::storage_class},
    Named<ValidationRule>{"toleration", rules::toleration},
    Named<ValidationRule>{"volcano_network_topology", rules::volcano_network_topology},
    Named<ValidationRule>{"volume", rules::volume},
    Named<ValidationRule>{"volume_claim_spec", rules::volume_claim_spec},
    Named<ValidationRule>{"volume_mount", rules::volume_mount},
};

constexpr std::array kDefaultRules{
    Named<DefaultRule>{"autoscaler_spec", rules::default_autoscaler_spec},
    Named<DefaultRule>{"container", rules::default_container},
    Named<DefaultRule>{"daemon_set_strategy", rules::default_daemon_set_strategy},
    Named<DefaultRule>{"deployment_strategy", rules::default_deployment_strategy},
    Named<DefaultRule>{"job", rules::default_job},
    Named<DefaultRule>{"limit_range_item", rules::default_limit_range_item},
    Named<DefaultRule>{"namespace", rules::default_namespace},
    Named<DefaultRule>{"network_policy_spec", rules::default_network_policy_spec},
    Named<DefaultRule>{"node_spec", rules::default_node_spec},
    Named<DefaultRule>{"node_status", rules::default_node_status},
    Named<DefaultRule>{"pod", rules::default_pod},
    Named<DefaultRule>{"pod_spec", rules::default_pod_spec},
    Named<DefaultRule>{"rbac_subject", rules::default_rbac_subject},
    Named<DefaultRule>{"replication_controller", rules::default_replication_controller},
    Named<DefaultRule>{"secret", rules::default_secret},
    Named<DefaultRule>{"service_port", rules::default_service_port},
    Named<DefaultRule>{"service_spec", rules::default_service_spec},
    Named<DefaultRule>{"stateful_set_strategy", rules::default_stateful_set_strategy},
    Named<DefaultRule>{"volume", rules::default_volume},
};

template <typename Table>
auto find_in(const Table& table, std::string_view name) -> decltype(table[0].function) {
  const auto at = std::find_if(table.begin(), table.end(),
                               [name](const auto& entry) { return entry.name == name; });
  return at == table.end() ? nullptr : at->function;
}

}  // namespace

ValidationRule find_validation_rule(std::string_view name) {
  return find_in(kValidationRules, name);
}
DefaultRule find_default_rule(std::string_view name) {
  return find_in(kDefaultRules, name);
}

}  // namespace krater::api
