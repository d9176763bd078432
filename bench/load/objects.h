// What the load consists of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/json.h"

namespace krater::bench {

Json config_map(const std::string& name, std::size_t bytes);
// One container with requests; for a scheduler that does not exist, so that it stays where it is.
Json pod(const std::string& name);
// A head and `workers` workers of one CPU each. With `queue` empty: the default one.
Json ray_job(const std::string& name, int workers, std::string_view queue);
// `pods` pods of one CPU and 1 GiB, as the profiles of Volcano's benchmark ask for.
Json vc_job(const std::string& name, int pods, int min_available);
// The same without a job: the group and its pods, called `<group>-t-<number>` as a job calls them.
Json pod_group(const std::string& name, int min_member);
Json group_pod(const std::string& group, int number);

HttpRequest get(std::string path);
HttpRequest post(std::string path, const Json& body);

// Different in each run: names must not collide with those of the last one.
std::string run_id();

}  // namespace krater::bench
