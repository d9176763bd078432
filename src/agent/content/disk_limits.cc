#include "agent/content/disk_limits.h"

#include "agent/content/pod_limits.h"
#include "agent/content/volume_writer.h"
#include "agent/content/volumes.h"

namespace krater::agent {
namespace {

std::string volume_problem(const Json& pod, const std::string& directory) {
  for (const Volume& volume : limited_volumes(pod, directory)) {
    if (disk_usage(volume.path) > volume.size_limit) {
      return "Usage of EmptyDir volume \"" + volume.name + "\" exceeds the limit \"" +
             Quantity::from_value(volume.size_limit, Quantity::Format::BinarySI).text() + "\". ";
    }
  }
  return {};
}

// What a container wrote, and what it said.
std::int64_t used_by(const std::string& container, const std::string& directory) {
  return disk_usage(directory + "/containers/" + container + "/upper") +
         disk_usage(directory + "/logs/" + container);
}

std::int64_t used_by_volumes(const Json& pod, const std::string& directory) {
  std::int64_t out = 0;
  const JsonArray* list = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& volume = (*list)[i];
    const bool on_disk = find(volume, {"emptyDir"}) != nullptr &&
                         text_at(volume, {"emptyDir", "medium"}) != "Memory";
    if (on_disk) out += disk_usage(directory + "/volumes/" + text_at(volume, {"name"}));
  }
  return out;
}

}  // namespace

std::string disk_limit_broken(const PodSpec& pod, const std::string& directory) {
  if (std::string problem = volume_problem(pod.document, directory); !problem.empty())
    return problem;
  const auto together = pod_storage_limit(pod.document);
  if (!together) return {};
  std::int64_t used = used_by_volumes(pod.document, directory);
  std::string problem;
  for (const ContainerSpec& container : pod.containers) {
    const std::int64_t own = used_by(container.name, directory);
    used += own;
    const auto limit = container_storage_limit(container.document);
    if (!limit || container.role != Role::Main || own <= limit->value() || !problem.empty())
      continue;
    problem = "Container " + container.name + " exceeded its local ephemeral storage limit \"" +
              limit->text() + "\". ";
  }
  if (used > together->value()) {
    return "Pod ephemeral local storage usage exceeds the total limit of containers " +
           together->text() + ". ";
  }
  return problem;
}

}  // namespace krater::agent
