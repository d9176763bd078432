#include "controllers/vcjob/plugins/plugins.h"

#include <array>

#include "controllers/vcjob/plugins/plugin.h"

namespace krater::controllers::vcjob {
namespace {

struct Entry {
  std::string_view name;
  PodHook pod;
  ObjectsHook objects = nullptr;
  bool (*waits_for_key)(const PluginInput&) = nullptr;
  bool marked = true;  // in status.controlledResources
};

// In the order in which they change a pod: the container that pytorch adds gets what the others
// give to each; hcclrank looks at what pytorch has set.
constexpr std::array<Entry, 8> kPlugins{{
    {"pytorch", pytorch_pod},
    {"env", env_pod},
    {"svc", svc_pod, svc_objects},
    {"ssh", ssh_pod, ssh_objects, ssh_needs_key},
    {"mpi", mpi_pod},
    {"tensorflow", tensorflow_pod},
    {"ray", ray_pod, ray_objects},
    {"hcclrank", hcclrank_pod, nullptr, nullptr, false},
}};

constexpr std::string_view kMark = "plugin-";

template <typename Visit>
void for_each_plugin(const Observed& seen, Visit visit) {
  const auto asked = seen.job.plugins();
  for (const Entry& entry : kPlugins) {
    const auto found = asked.find(entry.name);
    if (found != asked.end()) visit(entry, PluginInput{seen, found->second});
  }
}

EventNote plugin_error() {
  return {EventNote::Type::Warning, "PluginError", "Execute plugin when job add failed, err"};
}

PlannedWrite create(const Observed& seen, const PluginObject& wanted) {
  Json object = new_object(wanted.kind, seen.job->name_space(), wanted.name);
  set_path(object, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*seen.job.object())});
  for (const auto& member : wanted.object.get_object())
    object.get_object()[member.key()] = member.value();
  return {client::CreateWrite{wanted.kind, seen.job->name_space(), std::move(object)},
          Code::AlreadyExists,
          {},
          plugin_error()};
}

std::optional<PlannedWrite> bring_up_to_date(const PluginObject& wanted, const Object& present) {
  const Json nothing(boost::json::object_kind);
  const auto document = present.document();
  const Json* before = find(*document, {"data"});
  const Json* after = find(wanted.object, {"data"});
  if (after == nullptr) return std::nullopt;
  Json patch = merge_difference(before == nullptr ? nothing : *before, *after);
  if (patch.get_object().empty()) return std::nullopt;
  client::PatchWrite write{wanted.kind, present.name_space(), present.name(),
                           client::PatchType::Merge, JsonObject{{"data", std::move(patch)}}};
  return PlannedWrite{std::move(write), Code::NotFound, {}, plugin_error()};
}

// Made for a job of this name that is gone; it is about to go too.
bool is_predecessors(const Observed& seen, const Object& present) {
  const OwnerReference* owner = owning_volcano_job(present);
  return owner != nullptr && owner->name == seen.job->name() && owner->uid != seen.job->uid();
}

void sync_object(const Observed& seen, const PluginObject& wanted, PluginPlan& plan) {
  const ObjectPtr present = seen.child(wanted.kind, wanted.name);
  if (present == nullptr) {
    plan.writes.push_back(create(seen, wanted));
  } else if (is_predecessors(seen, *present)) {
    plan.has_predecessors = true;
  } else if (!seen.owns(*present)) {
    plan.held.push_back(wanted.kind.kind + " " + wanted.name);
  } else if (wanted.follows_job && !present->deletion()) {
    if (auto write = bring_up_to_date(wanted, *present)) plan.writes.push_back(*std::move(write));
  }
}

}  // namespace

void apply_plugins(const Observed& seen, const VolcanoTask& task, std::int64_t index, Json& pod) {
  for_each_plugin(seen, [&](const Entry& entry, const PluginInput& input) {
    entry.pod(PodInput{input, task, index}, pod);
  });
}

PluginPlan sync_plugin_objects(const Observed& seen) {
  PluginPlan out;
  for_each_plugin(seen, [&](const Entry& entry, const PluginInput& input) {
    if (entry.waits_for_key != nullptr && entry.waits_for_key(input)) {
      out.needs_key = true;
      return;
    }
    if (entry.objects == nullptr) return;
    for (const PluginObject& wanted : entry.objects(input)) sync_object(seen, wanted, out);
  });
  return out;
}

std::vector<PlannedWrite> remove_plugin_objects(const Observed& seen) {
  std::vector<PlannedWrite> out;
  for_each_plugin(seen, [&](const Entry& entry, const PluginInput& input) {
    if (entry.objects == nullptr) return;
    for (const PluginObject& wanted : entry.objects(input)) {
      const ObjectPtr present = seen.child(wanted.kind, wanted.name);
      if (present == nullptr || present->deletion() || !seen.owns(*present)) continue;
      client::DeleteWrite gone{wanted.kind, present->name_space(), present->name()};
      gone.only_uid = present->uid();
      out.push_back({std::move(gone), Code::NotFound, {}, plugin_error()});
    }
  });
  return out;
}

void mark_plugins(const Observed& seen, Status& status) {
  for_each_plugin(seen, [&](const Entry& entry, const PluginInput&) {
    if (entry.marked)
      status.controlled[std::string(kMark) + std::string(entry.name)] = std::string(entry.name);
  });
}

void unmark_plugins(Status& status) {
  std::erase_if(status.controlled,
                [](const auto& entry) { return entry.first.starts_with(kMark); });
}

}  // namespace krater::controllers::vcjob
