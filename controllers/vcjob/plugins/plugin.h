// What a plugin's file offers to the table. Pure functions over a job and the plugin's arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

struct PluginInput {
  const Observed& seen;
  const std::vector<std::string>& arguments;
};

struct PodInput {
  const PluginInput& plugin;
  const VolcanoTask& task;
  std::int64_t index = 0;
};

struct PluginObject {
  Kind kind;
  std::string name;
  Json object;               // without owner and namespace
  bool follows_job = false;  // its data is brought up to date when the job is scaled
};

using PodHook = void (*)(const PodInput&, Json& pod);
using ObjectsHook = std::vector<PluginObject> (*)(const PluginInput&);

void env_pod(const PodInput& in, Json& pod);
void svc_pod(const PodInput& in, Json& pod);
std::vector<PluginObject> svc_objects(const PluginInput& in);
void ssh_pod(const PodInput& in, Json& pod);
std::vector<PluginObject> ssh_objects(const PluginInput& in);
// Whether its Secret needs a key that is still to be made.
bool ssh_needs_key(const PluginInput& in);
void mpi_pod(const PodInput& in, Json& pod);
void pytorch_pod(const PodInput& in, Json& pod);
void tensorflow_pod(const PodInput& in, Json& pod);
void ray_pod(const PodInput& in, Json& pod);
std::vector<PluginObject> ray_objects(const PluginInput& in);
void hcclrank_pod(const PodInput& in, Json& pod);

// Shared by several plugins.

// "<hostname>.<subdomain>" of a task's pod, as the svc plugin makes them resolvable.
std::string host_of(const VolcanoJobView& job, const VolcanoTask& task, std::int64_t index);
// More text than a ConfigMap or a Secret holds, and than Linux hands to a process in one variable.
inline constexpr std::size_t kTooMuchForAnObject = std::size_t{1} << 20;
inline constexpr std::size_t kTooMuchForAVariable = std::size_t{128} << 10;
// How many a task has: one when its template names a host.
std::int64_t host_count(const VolcanoTask& task);
// Those of a task, until they are more than `too_much` bytes: what is made of them then is refused
// where it goes, and costs no more than that.
std::vector<std::string> hosts_of(const VolcanoJobView& job, const VolcanoTask& task,
                                  std::size_t too_much);
Json variable(std::string_view name, std::string_view value);
// Adds a named port to the containers of the list that do not have its number; where they share the
// node's network to one of them, as it can be opened there once.
void open_port(Json& pod, std::string_view containers, std::string_view name, std::int64_t port);

}  // namespace krater::controllers::vcjob
