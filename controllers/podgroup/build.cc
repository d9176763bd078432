#include "controllers/podgroup/build.h"

#include "base/strings.h"
#include "model/keys.h"
#include "model/pod_quota.h"
#include "model/resource_list.h"
#include "model/volcano_job.h"

namespace krater::controllers::podgroup {
namespace {

constexpr std::string_view kVolcanoPrefix = "volcano.sh/";
constexpr std::string_view kTopologyMode = "volcano.sh/network-topology-mode";
constexpr std::string_view kTopologyTier = "volcano.sh/network-topology-highest-tier";

Labels annotations_of(const PodView& pod, const Labels& owner) {
  Labels out;
  for (const auto& [name, value] : owner) {
    if (name.starts_with(kVolcanoPrefix)) out[name] = value;
  }
  const auto copy = [&](std::string_view name) {
    const std::string_view value = pod.annotation(name);
    if (!value.empty()) out[std::string(name)] = value;
    return !value.empty();
  };
  for (const std::string_view name :
       {keys::kPreemptable, keys::kCooldownTime, keys::kRevocableZone})
    copy(name);
  if (!copy(keys::kJdbMinAvailable)) copy(keys::kJdbMaxUnavailable);
  return out;
}

Labels labels_of(const PodView& pod) {
  Labels out;
  for (const std::string_view name : {keys::kPreemptable, keys::kCooldownTime}) {
    if (!pod->label(name).empty()) out[std::string(name)] = pod->label(name);
  }
  return out;
}

void put_topology(const PodView& pod, Json& spec) {
  const std::string mode = to_lower(pod.annotation(kTopologyMode));
  const std::string_view tier = pod.annotation(kTopologyTier);
  if (mode.empty() && tier.empty()) return;
  set_path(spec, {"networkTopology", "mode"}, Json(mode == "soft" ? "soft" : "hard"));
  if (const auto highest = parse_int(tier); highest && *highest >= 0)
    set_path(spec, {"networkTopology", "highestTierAllowed"}, *highest);
}

Json min_resources(const PodView& pod, std::int64_t members) {
  PodQuota gang;
  gang.add(PodQuota::of(&pod.spec()), members);
  return gang.to_json_object();
}

Json spec_of(const PodView& pod, std::int64_t members, const std::string& queue) {
  Json spec(boost::json::object_kind);
  set_path(spec, {"minMember"}, members);
  set_path(spec, {"minResources"}, min_resources(pod, members));
  if (!queue.empty()) set_path(spec, {"queue"}, Json(queue));
  if (const std::string priority = pod.priority_class_name(); !priority.empty())
    set_path(spec, {"priorityClassName"}, Json(priority));
  put_topology(pod, spec);
  return spec;
}

}  // namespace

std::string group_name(const Object& pod) {
  const OwnerReference* owner = pod.controller();
  return "podgroup-" + (owner == nullptr ? pod.uid() : owner->uid).text();
}

std::string queue_of(const PodView& pod, const Labels& owner) {
  if (const std::string_view queue = pod.annotation(keys::kQueueName); !queue.empty())
    return std::string(queue);
  const auto place = owner.find(keys::kQueueName);
  return place == owner.end() ? "" : place->second;
}

Json difference(const PodGroupView& group, const PodView& pod, std::int64_t members,
                const std::string& queue) {
  const Json* stored = find(group.document(), {"spec"});
  const Json before = stored == nullptr ? Json(boost::json::object_kind) : *stored;
  const Json wanted = spec_of(pod, members, queue);
  Json after = before;
  for (const std::string_view field :
       {"minMember", "minResources", "queue", "priorityClassName", "networkTopology"}) {
    if (const Json* value = find(wanted, {field}))
      set_path(after, {field}, *value);
    else if (field != "queue")
      erase_path(after, {field});
  }
  // Equal amounts in another spelling are left as they are.
  const Json* amounts = find(before, {"minResources"});
  if (ResourceList::from(amounts) == ResourceList::from(find(after, {"minResources"})) &&
      amounts != nullptr)
    set_path(after, {"minResources"}, *amounts);
  return merge_difference(before, after);
}

Json build_group(const PodView& pod, const Labels& owner, std::int64_t members,
                 const std::string& queue) {
  Json out = new_object(kinds::kPodGroup, pod->name_space(), group_name(*pod.object()));
  if (const Labels labels = labels_of(pod); !labels.empty())
    set_path(out, {"metadata", "labels"}, to_json_object(labels));
  if (const Labels annotations = annotations_of(pod, owner); !annotations.empty())
    set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
  const JsonArray* owners = array_at(pod.document(), {"metadata", "ownerReferences"});
  const bool has_owner = pod->controller() != nullptr && owners != nullptr;
  set_path(out, {"metadata", "ownerReferences"},
           has_owner ? *owners : JsonArray{controller_reference(*pod.object())});
  set_path(out, {"spec"}, spec_of(pod, members, queue));
  set_path(out, {"status", "phase"}, "Pending");
  return out;
}

}  // namespace krater::controllers::podgroup
