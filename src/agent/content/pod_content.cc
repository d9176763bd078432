#include "agent/content/pod_content.h"

#include "agent/content/content_builder.h"
#include "agent/content/disk_limits.h"
#include "agent/content/env.h"
#include "agent/content/service_env.h"
#include "agent/content/volume_writer.h"
#include "base/log.h"
#include "base/quantity.h"

namespace krater::agent {
namespace {

std::int64_t amount(const Json& container, std::string_view list, std::string_view name,
                    bool milli) {
  const auto text = string_at(container, {"resources", list, name});
  const Result<Quantity> quantity = text ? Quantity::parse(*text) : Quantity();
  if (!quantity) return 0;
  return milli ? quantity->milli_value() : quantity->value();
}

// The container's own setting, else the pod's.
template <typename Read>
auto security(const Json& pod, const Json& container, std::string_view field, Read read) {
  auto own = read(container, {"securityContext", field});
  return own ? own : read(pod, {"spec", "securityContext", field});
}

std::vector<std::string> capabilities(const Json& container, std::string_view list) {
  std::vector<std::string> out;
  const JsonArray* names = array_at(container, {"securityContext", "capabilities", list});
  for (std::size_t i = 0; names != nullptr && i < names->size(); ++i) {
    if (!(*names)[i].is_string()) continue;
    const std::string_view name = view((*names)[i].get_string());
    out.emplace_back(name.starts_with("CAP_") ? name.substr(4) : name);
  }
  return out;
}

std::optional<std::int64_t> fs_group(const Json& pod) {
  return int_at(pod, {"spec", "securityContext", "fsGroup"});
}

Result<void> set_identity(const Json& pod, const Json& container, ContainerRun& run) {
  run.user = security(pod, container, "runAsUser", int_at);
  run.group = security(pod, container, "runAsGroup", int_at);
  if (const JsonArray* list = array_at(pod, {"spec", "securityContext", "supplementalGroups"})) {
    for (const Json& one : *list) run.groups.push_back(as_int(one).value_or(0));
  }
  if (const auto group = fs_group(pod)) run.groups.push_back(*group);
  const bool must_not_be_root = security(pod, container, "runAsNonRoot", bool_at).value_or(false);
  if (must_not_be_root && run.user.value_or(0) == 0) {
    return make_error(Code::Invalid, run.user
                                         ? "container's runAsUser breaks non-root policy"
                                         : "container has runAsNonRoot and image will run as root");
  }
  run.privileged = bool_at(container, {"securityContext", "privileged"}).value_or(false);
  run.no_new_privileges =
      !bool_at(container, {"securityContext", "allowPrivilegeEscalation"}).value_or(true);
  run.add_capabilities = capabilities(container, "add");
  run.drop_capabilities = capabilities(container, "drop");
  run.read_only_root =
      bool_at(container, {"securityContext", "readOnlyRootFilesystem"}).value_or(false);
  return {};
}

}  // namespace

SandboxSpec PodContent::sandbox(const PodSpec& pod) {
  return sandbox_spec(pod, settings_.dns, settings_.node, runtime_.pod_directory(pod.uid));
}

void PodContent::build(const PodSpec& pod, const PodView& view, const ContainerSpec& container,
                       const PodState& state, std::function<void(Result<ContainerRun>)> done) {
  // The worker owns pod, container and state, and drops `done` when it goes: they are used only
  // while it is there, through `done`'s own guard, so everything needed is copied.
  fetcher_.fetch(pod, needs_of(view.document(), &container.document),
                 [this, alive = std::weak_ptr<bool>(alive_), pod, object = view.object(), container,
                  state, done = std::move(done)](Result<Sources> sources) {
                   if (alive.expired()) return;
                   if (!sources) return done(sources.error());
                   done(make_run(pod, *object->document(), container, state, *sources));
                 });
}

Result<std::vector<Volume>> PodContent::write_volumes(const PodSpec& pod, const PodFacts& facts,
                                                      const Sources& sources) {
  TRY_ASSIGN(std::vector<Volume> volumes,
             pod_volumes(facts, sources, runtime_.pod_directory(pod.uid)));
  for (const Volume& volume : volumes) {
    if (Result<void> written = write_volume(volume, fs_group(facts.document)); !written) {
      return make_error(Code::Unavailable, "MountVolume.SetUp failed for volume \"" + volume.name +
                                               "\" : " + written.error().message);
    }
  }
  return volumes;
}

Result<ContainerRun> PodContent::make_run(const PodSpec& pod, const Json& document,
                                          const ContainerSpec& container, const PodState& state,
                                          const Sources& sources) {
  const PodFacts facts{document, state.pod_ip, state.host_ip, settings_.node};
  TRY_ASSIGN(const std::vector<Volume> volumes, write_volumes(pod, facts, sources));
  ContainerRun run;
  run.name = container.name;
  run.image = container.image;
  run.role = container.role;
  const auto place = state.containers.find(container.name);
  run.attempt = place == state.containers.end() ? 0 : place->second.restarts;
  run.working_dir = container.working_dir;
  run.termination_path = container.termination_path;
  run.log_as_message_on_error = container.log_as_message_on_error;
  const Environment services =
      settings_.services
          ? service_environment(settings_.services(), pod.name_space, pod.service_links)
          : settings_.api;
  TRY_ASSIGN(run.env, container_environment(container.document, facts, sources, services));
  for (const std::string& word : container.command) run.argv.push_back(expand(word, run.env));
  for (const std::string& word : container.args) run.argv.push_back(expand(word, run.env));
  TRY_ASSIGN(run.mounts, container_mounts(container.document, volumes, [&](std::string_view text) {
               return expand(text, run.env);
             }));
  TRY(set_identity(document, container.document, run));
  run.memory_limit_bytes = amount(container.document, "limits", "memory", false);
  run.cpu_limit_milli = amount(container.document, "limits", "cpu", true);
  run.cpu_request_milli = amount(container.document, "requests", "cpu", true);
  if (run.cpu_request_milli == 0) run.cpu_request_milli = run.cpu_limit_milli;
  return run;
}

void PodContent::refresh(const PodSpec& pod, const PodView& view, const PodState& state) {
  bool files = false;
  if (const JsonArray* list = array_at(view.document(), {"spec", "volumes"})) {
    for (const Json& volume : *list) {
      for (const std::string_view kind : {"configMap", "secret", "projected", "downwardAPI"})
        files = files || find(volume, {kind}) != nullptr;
    }
  }
  if (!files || !refreshing_.insert(pod.uid).second) return;
  fetcher_.fetch(pod, needs_of(view.document(), nullptr),
                 [this, alive = std::weak_ptr<bool>(alive_), pod, object = view.object(),
                  pod_ip = state.pod_ip, host_ip = state.host_ip](Result<Sources> sources) {
                   if (alive.expired() || refreshing_.erase(pod.uid) == 0) return;
                   const std::shared_ptr<const Json> document = object->document();
                   const Result<std::vector<Volume>> written =
                       sources ? write_volumes(pod, {*document, pod_ip, host_ip, settings_.node},
                                               *sources)
                               : sources.error();
                   if (!written)
                     log::warn("agent.volumes_stale",
                               {{"pod", object->key().text()}, {"why", written.error().message}});
                 });
}

std::string PodContent::over_limit(const PodSpec& pod) {
  return disk_limit_broken(pod, runtime_.pod_directory(pod.uid));
}

void PodContent::forget(const std::string& uid) {
  fetcher_.forget(uid);
  refreshing_.erase(uid);
}

std::unique_ptr<ContentBuilder> make_content_builder(ContentDeps deps) {
  PodContentSettings settings{std::move(deps.node), {}, {}, {}};
  settings.dns = {deps.settings.dns_address, deps.settings.cluster_domain,
                  deps.settings.host_resolv_conf};
  if (deps.settings.services != nullptr) {
    settings.services = [cache = deps.settings.services] { return cache->list(kinds::kService); };
  } else if (!deps.settings.server_host.empty()) {
    settings.api = api_environment(deps.settings.server_host, deps.settings.server_port);
  }
  return std::make_unique<PodContent>(deps.client, deps.loop, deps.clock, deps.runtime,
                                      std::move(settings));
}

}  // namespace krater::agent
