// The parts of a Ray pod that live in its containers: command, environment, probes, shared memory.
// Pure.
#pragma once

#include "controllers/ray/pod_builder.h"

namespace krater::controllers {

// Appends {name, value}; with `if_absent` only when no entry has that name.
void add_env(Json& container, std::string_view name, std::string_view value,
             bool if_absent = false);
void add_env_field(Json& container, std::string_view name, std::string_view field_path);

// Command and arguments that start Ray after whatever the user's own command does.
void wrap_command(Json& container, const std::string& ray_start, bool overwrite);
void add_ray_env(Json& container, const PodContext& context, const RayGroupSpec& group,
                 const std::string& ray_start);
void add_probes(Json& container, const PodContext& context, const RayGroupSpec& group,
                const Labels& params);
// /dev/shm in memory, as large as the container may become.
void add_shared_memory(Json& pod_spec, const Labels& params);
// Blocks a worker until the head's GCS answers.
Json wait_gcs_ready_container(const PodContext& context, const Json& ray_container);
// FQ_RAY_IP and RAY_IP.
void add_head_address_env(Json& container, const PodContext& context);

}  // namespace krater::controllers
