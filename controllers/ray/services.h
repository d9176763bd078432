// The Services of a RayCluster. Pure. All without owner references; the caller adds its own.
#pragma once

#include "controllers/ray/pod_builder.h"

namespace krater::controllers {

// spec of the head service: selector on the cluster's head pod, the ports of the Ray container,
// headless unless asked otherwise. Also used for a RayJob's own head service.
Json head_service_spec(const PodContext& context);
Json head_service(const PodContext& context);
// "<cluster>-headless": gives workers of groups with several hosts stable names. Not wanted when no
// group has.
bool wants_headless_service(const RayClusterSpec& spec);
Json headless_service(const PodContext& context);
// "<cluster>-serve-svc", asked for by annotation. An error when the head has no port for it.
Result<Json> serve_service(const PodContext& context);
// The port named `name` of a Service.
std::optional<std::int64_t> service_port(const Json& service, std::string_view name);

}  // namespace krater::controllers
