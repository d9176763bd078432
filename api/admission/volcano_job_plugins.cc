// Plugins of a Volcano job: known ones, that find the tasks and the names they work with.
#include <algorithm>
#include <array>

#include "api/admission/volcano_job_parts.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::array<std::string_view, 8> kPlugins{"env", "hcclrank", "mpi", "pytorch",
                                                   "ray", "ssh",      "svc", "tensorflow"};
constexpr std::size_t kLongestLabel = 63;

// What an argument such as "--master=name" says.
std::string argument(const Json& plugin, std::string_view flag, std::string_view fallback) {
  std::string out(fallback);
  const JsonArray* arguments = plugin.if_array();
  if (arguments == nullptr) return out;
  for (std::size_t i = 0; i < arguments->size(); ++i) {
    if (!(*arguments)[i].is_string()) continue;
    std::string_view text = view((*arguments)[i].get_string());
    while (text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with(flag) && text.substr(flag.size()).starts_with('='))
      out = text.substr(flag.size() + 1);
    if (text == flag && i + 1 < arguments->size() && (*arguments)[i + 1].is_string())
      out = view((*arguments)[i + 1].get_string());
  }
  return out;
}

bool has_task(const Json& job, std::string_view name) {
  const JsonArray& tasks = tasks_of(job);
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](const Json& task) { return text_at(task, {"name"}) == name; });
}

// The plugin would do nothing, and nobody would know why.
std::string idle_pytorch(const Json& job, const Json& plugin) {
  const std::string master = argument(plugin, "master", "master");
  return has_task(job, master) ? "" : "there is no task " + master;
}

std::string idle_tensorflow(const Json& job, const Json& plugin) {
  constexpr std::array<std::string_view, 4> kRoles{"ps", "worker", "chief", "evaluator"};
  const JsonArray& tasks = tasks_of(job);
  if (tasks.size() == 1 && replicas_of(tasks.front()) == 1) return {};  // it stands alone
  const bool any = std::any_of(kRoles.begin(), kRoles.end(), [&](std::string_view role) {
    return has_task(job, argument(plugin, role, role));
  });
  return any ? "" : "no task is " + join({kRoles.begin(), kRoles.end()}, ", ");
}

void check_roles(const Admission& admission, std::string_view name, const Json& plugin,
                 Problems& problems) {
  const Json& job = admission.object;
  std::string idle;
  if (name == "mpi" && !has_task(job, argument(plugin, "master", "master"))) {
    problems.emplace_back("The specified mpi master task was not found");
  } else if (const std::string head = argument(plugin, "head", "head");
             name == "ray" && !has_task(job, head)) {
    problems.push_back("the head task " + head + " of the ray plugin was not found");
  } else if (name == "pytorch") {
    idle = idle_pytorch(job, plugin);
  } else if (name == "tensorflow") {
    idle = idle_tensorflow(job, plugin);
  }
  if (!idle.empty())
    admission.warnings.push_back("spec.plugins." + std::string(name) + ": " + idle);
}

void check_service(const std::string& name, Problems& problems) {
  if (const std::string bad = check_dns1035_label(name); !bad.empty())
    problems.push_back("the service of the job can not be named " + name + ": " + bad);
}

}  // namespace

void check_host_names(const Admission& admission, Problems& problems) {
  if (find(admission.object, {"spec", "plugins", "svc"}) == nullptr) return;
  for (const Json& task : tasks_of(admission.object)) {
    if (replicas_of(task) < 1 || !text_at(task, {"template", "spec", "hostname"}).empty()) continue;
    const std::string last = admission.name + "-" + text_at(task, {"name"}) + "-" +
                             std::to_string(replicas_of(task) - 1);
    if (last.size() > kLongestLabel) {
      problems.push_back("with the svc plugin pods are hosts, and " + last +
                         " is too long for one: must be no more than 63 characters");
    }
  }
}

void check_job_plugins(const Admission& admission, Problems& problems) {
  const JsonObject* plugins = object_at(admission.object, {"spec", "plugins"});
  if (plugins == nullptr) return;
  for (const auto& entry : *plugins) {
    const std::string_view name(entry.key().data(), entry.key().size());
    if (std::find(kPlugins.begin(), kPlugins.end(), name) == kPlugins.end())
      problems.push_back("unable to find job plugin: " + std::string(name));
    check_roles(admission, name, entry.value(), problems);
  }
  if (plugins->contains("svc")) check_service(admission.name, problems);
  if (plugins->contains("ray")) check_service(admission.name + "-head-svc", problems);
  check_host_names(admission, problems);
}

}  // namespace krater::api
