// The rules that schemas name under x-krater-rules and x-krater-default: what OpenAPI cannot say
// about a type. One file a subject; the tables in rules.cc are the only lists. All are pure.
#pragma once

#include <string_view>

#include "api/machinery/field_errors.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

ValidationRule find_validation_rule(std::string_view name);  // nullptr when there is none
DefaultRule find_default_rule(std::string_view name);

namespace rules {

// metadata.cc
void object_meta(const RuleInput& in, FieldErrors& errors);
void label_selector(const RuleInput& in, FieldErrors& errors);
// Keys and values of a label map.
void check_labels(const Json& labels, const FieldPath& path, FieldErrors& errors);

// pod.cc, pod_update.cc
void pod(const RuleInput& in, FieldErrors& errors);
void pod_spec(const RuleInput& in, FieldErrors& errors);

// container.cc
void container(const RuleInput& in, FieldErrors& errors);
void downward_field(const RuleInput& in, FieldErrors& errors);
void downward_file(const RuleInput& in, FieldErrors& errors);
// What an environment may be told, which is less than what a volume may.
void env_downward(const RuleInput& in, FieldErrors& errors);
void downward_resource(const RuleInput& in, FieldErrors& errors);
void env_var(const RuleInput& in, FieldErrors& errors);
void env_var_source(const RuleInput& in, FieldErrors& errors);
void env_from(const RuleInput& in, FieldErrors& errors);
void volume_mount(const RuleInput& in, FieldErrors& errors);
void probe(const RuleInput& in, FieldErrors& errors);
void one_handler(const RuleInput& in, FieldErrors& errors);

// resources.cc
void resource_requirements(const RuleInput& in, FieldErrors& errors);
void node_status(const RuleInput& in, FieldErrors& errors);

// volume.cc
void volume(const RuleInput& in, FieldErrors& errors);

// placement.cc
void toleration(const RuleInput& in, FieldErrors& errors);
void node_selector_requirement(const RuleInput& in, FieldErrors& errors);
void node_spec(const RuleInput& in, FieldErrors& errors);
void default_node_spec(JsonObject& spec);
void priority_class(const RuleInput& in, FieldErrors& errors);
void runtime_class_overhead(const RuleInput& in, FieldErrors& errors);
void runtime_class_scheduling(const RuleInput& in, FieldErrors& errors);

// service.cc
void service_spec(const RuleInput& in, FieldErrors& errors);
void service_port(const RuleInput& in, FieldErrors& errors);

// endpoints.cc
void endpoint_slice(const RuleInput& in, FieldErrors& errors);
void endpoint_subset(const RuleInput& in, FieldErrors& errors);

// config.cc
void config_map(const RuleInput& in, FieldErrors& errors);
void secret(const RuleInput& in, FieldErrors& errors);

// event.cc
void event(const RuleInput& in, FieldErrors& errors);
void event_v1(const RuleInput& in, FieldErrors& errors);

// job.cc
void job(const RuleInput& in, FieldErrors& errors);
void cron_job(const RuleInput& in, FieldErrors& errors);

// workload.cc
void deployment_spec(const RuleInput& in, FieldErrors& errors);
void replica_set_spec(const RuleInput& in, FieldErrors& errors);
void stateful_set_spec(const RuleInput& in, FieldErrors& errors);
void daemon_set_spec(const RuleInput& in, FieldErrors& errors);
void controller_revision(const RuleInput& in, FieldErrors& errors);
void replication_controller_spec(const RuleInput& in, FieldErrors& errors);
void default_replication_controller(JsonObject& controller);
void default_deployment_strategy(JsonObject& strategy);
void default_stateful_set_strategy(JsonObject& strategy);
void default_daemon_set_strategy(JsonObject& strategy);

// policy.cc
void disruption_budget_spec(const RuleInput& in, FieldErrors& errors);
void resource_quota_spec(const RuleInput& in, FieldErrors& errors);
void limit_range_spec(const RuleInput& in, FieldErrors& errors);
void default_limit_range_item(JsonObject& item);

// storage.cc
void persistent_volume_spec(const RuleInput& in, FieldErrors& errors);
void volume_claim_spec(const RuleInput& in, FieldErrors& errors);
void persistent_volume_claim(const RuleInput& in, FieldErrors& errors);
void storage_class(const RuleInput& in, FieldErrors& errors);

// network.cc
void ingress_spec(const RuleInput& in, FieldErrors& errors);
void ingress_class_spec(const RuleInput& in, FieldErrors& errors);
void network_policy_spec(const RuleInput& in, FieldErrors& errors);
void default_network_policy_spec(JsonObject& spec);

// autoscaling.cc
void autoscaler_spec(const RuleInput& in, FieldErrors& errors);
void autoscaler_v1_spec(const RuleInput& in, FieldErrors& errors);
void default_autoscaler_spec(JsonObject& spec);

// certificates.cc
void certificate_signing_request(const RuleInput& in, FieldErrors& errors);

// rbac.cc
void policy_rule(const RuleInput& in, FieldErrors& errors);
void role(const RuleInput& in, FieldErrors& errors);
void rbac_subject(const RuleInput& in, FieldErrors& errors);
void role_binding(const RuleInput& in, FieldErrors& errors);
void cluster_role_binding(const RuleInput& in, FieldErrors& errors);
void default_rbac_subject(JsonObject& subject);

// ray.cc
void ray_managed_by(const RuleInput& in, FieldErrors& errors);
void ray_gcs_backend(const RuleInput& in, FieldErrors& errors);
void ray_deletion_strategy(const RuleInput& in, FieldErrors& errors);
void ray_deletion_condition(const RuleInput& in, FieldErrors& errors);
void ray_service(const RuleInput& in, FieldErrors& errors);
void ray_cron_job(const RuleInput& in, FieldErrors& errors);

// volcano.cc
void volcano_network_topology(const RuleInput& in, FieldErrors& errors);
void hyper_node_spec(const RuleInput& in, FieldErrors& errors);

// pod_defaults.cc
void default_pod(JsonObject& pod);
void default_pod_spec(JsonObject& spec);
void default_container(JsonObject& container);
void default_volume(JsonObject& volume);

// object_defaults.cc
void default_service_spec(JsonObject& spec);
void default_service_port(JsonObject& port);
void default_secret(JsonObject& secret);
void default_namespace(JsonObject& name_space);
void default_node_status(JsonObject& status);
void default_job(JsonObject& job);

}  // namespace rules
}  // namespace krater::api
