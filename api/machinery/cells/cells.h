// Rows of kinds whose columns are computed rather than read: named by `cells` in the head of their
// schema. Each function gives one cell a column of that schema, in its order. All are pure.
#pragma once

#include <string>
#include <string_view>

#include "api/machinery/kind_schema.h"
#include "base/json.h"
#include "base/time.h"

namespace krater::api {

CellFunction find_cell_function(std::string_view name);  // nullptr when there is none

namespace cells {

JsonArray pod(const Json& object, WallTime now);
JsonArray node(const Json& object, WallTime now);
JsonArray service(const Json& object, WallTime now);
JsonArray endpoints(const Json& object, WallTime now);
JsonArray endpoint_slice(const Json& object, WallTime now);
JsonArray event(const Json& object, WallTime now);
JsonArray job(const Json& object, WallTime now);
JsonArray deployment(const Json& object, WallTime now);
JsonArray replica_set(const Json& object, WallTime now);
JsonArray stateful_set(const Json& object, WallTime now);
JsonArray daemon_set(const Json& object, WallTime now);
JsonArray controller_revision(const Json& object, WallTime now);
JsonArray cron_job(const Json& object, WallTime now);
JsonArray pod_disruption_budget(const Json& object, WallTime now);
JsonArray resource_quota(const Json& object, WallTime now);
JsonArray created_at(const Json& object, WallTime now);
JsonArray name_space(const Json& object, WallTime now);
JsonArray config_map(const Json& object, WallTime now);
JsonArray secret(const Json& object, WallTime now);
JsonArray service_account(const Json& object, WallTime now);
JsonArray lease(const Json& object, WallTime now);
JsonArray priority_class(const Json& object, WallTime now);
JsonArray validating_admission_policy(const Json& object, WallTime now);
JsonArray validating_admission_policy_binding(const Json& object, WallTime now);
JsonArray role(const Json& object, WallTime now);
JsonArray role_binding(const Json& object, WallTime now);
JsonArray persistent_volume(const Json& object, WallTime now);
JsonArray persistent_volume_claim(const Json& object, WallTime now);
JsonArray storage_class(const Json& object, WallTime now);
JsonArray csi_node(const Json& object, WallTime now);
JsonArray csi_driver(const Json& object, WallTime now);
JsonArray volume_attachment(const Json& object, WallTime now);
JsonArray csi_storage_capacity(const Json& object, WallTime now);
JsonArray ingress(const Json& object, WallTime now);
JsonArray ingress_class(const Json& object, WallTime now);
JsonArray network_policy(const Json& object, WallTime now);
JsonArray runtime_class(const Json& object, WallTime now);
JsonArray certificate_signing_request(const Json& object, WallTime now);
JsonArray horizontal_pod_autoscaler(const Json& object, WallTime now);
JsonArray replication_controller(const Json& object, WallTime now);
JsonArray pod_template(const Json& object, WallTime now);

// Parts that several rows share.
std::string name(const Json& object);
std::string age(const Json& object, WallTime now);  // since creation
// "<unknown>" for no or a broken time.
std::string since(std::string_view time, WallTime now);
std::string label_list(const Json* labels);  // "a=b,c=d" sorted, "<none>"
std::string or_none(std::string text);       // "<none>" for ""
// A label selector as kubectl writes it, "<none>" for none.
std::string selector_text(const Json* selector);
// One field of each container of a pod template, "a,b".
std::string container_fields(const Json* pod_template, std::string_view field);
// Status of the condition of that type, "" when there is none.
std::string condition_status(const Json& object, std::string_view type);

}  // namespace cells
}  // namespace krater::api
