// The PodGroup adapter. Runs wherever the Ray controllers run; stateless.
// A PodGroup is never deleted here: its owner's deletion does that.
#include "controllers/batchscheduler/volcano.h"

#include "base/strings.h"
#include "model/keys.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

// kubectl's own bookkeeping about the owner; it would mislead a later apply of the copy.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The label, else the annotation of the same name.
std::string label_or_annotation(const Object& object, std::string_view key) {
  if (const std::string_view label = object.label(key); !label.empty()) return std::string(label);
  return text_at(*object.document(), {"metadata", "annotations", key});
}

std::string priority_class_of(const Object& owner) {
  return label_or_annotation(owner, ray_keys::kPriorityClassName);
}

bool made_by_rayjob(const Object& cluster) {
  return cluster.label(ray_keys::kOriginKind) == kinds::kRayJob.kind &&
         !cluster.label(ray_keys::kOriginName).empty();
}

void apply_size(const GangSize& size, Json& spec) {
  set_path(spec, {"minMember"}, size.members);
  set_path(spec, {"minResources"}, size.resources.to_json_object());
}

void apply_queue(const Object& owner, const std::string& default_queue, Json& spec) {
  const std::string queue = label_or_annotation(owner, keys::kVolcanoQueueName);
  const bool named = !queue.empty() && queue != keys::kDefaultQueue;
  // Who names none stays where it was put: that may be its namespace's queue.
  if (named || find(spec, {"queue"}) == nullptr)
    set_path(spec, {"queue"}, Json(named ? queue : default_queue));
  const std::string priority_class = priority_class_of(owner);
  if (priority_class.empty()) {
    erase_path(spec, {"priorityClassName"});
  } else {
    set_path(spec, {"priorityClassName"}, Json(priority_class));
  }
}

// spec.networkTopology from the owner's labels; absent without the mode label.
Result<std::optional<Json>> network_topology(const Object& owner, const std::string& pod_group) {
  const std::string_view mode = owner.label(ray_keys::kNetworkTopologyMode);
  if (mode.empty()) return std::optional<Json>();
  JsonObject topology{{"mode", mode}};
  if (const std::string_view tier = owner.label(ray_keys::kNetworkTopologyTier); !tier.empty()) {
    const auto number = parse_int(tier);
    if (!number) {
      return make_error(Code::Invalid, "label " + std::string(ray_keys::kNetworkTopologyTier) +
                                           " of PodGroup " + pod_group + " in namespace " +
                                           owner.name_space() + " must be an integer, got \"" +
                                           std::string(tier) + "\"");
    }
    topology["highestTierAllowed"] = *number;
  }
  return std::optional<Json>(std::move(topology));
}

bool same_resources(const Json& pod_group, const GangSize& size) {
  const Json* stored = find(pod_group, {"spec", "minResources"});
  return stored != nullptr && stored->is_object() && ResourceList::from(stored) == size.resources;
}

// A guarded patch of the spec, or nothing when `spec` is what is stored.
std::optional<PlannedWrite> spec_patch(const ObjectPtr& existing, const Json& before,
                                       const Json& after) {
  Json patch = merge_difference(before, after);
  if (patch.get_object().empty()) return std::nullopt;
  client::PatchWrite write{kinds::kPodGroup, existing->name_space(), existing->name(),
                           client::PatchType::Merge, JsonObject{{"spec", std::move(patch)}}};
  write.only_if = existing->revision();
  PlannedWrite out{std::move(write)};
  out.on_failed = EventNote{
      EventNote::Type::Warning, "FailedToUpdatePodGroup",
      "Failed to update PodGroup " + existing->name_space() + "/" + existing->name(), "Update"};
  return out;
}

Json spec_of(const Json& document) {
  const Json* spec = find(document, {"spec"});
  return spec != nullptr && spec->is_object() ? *spec : Json(boost::json::object_kind);
}

class Volcano final : public BatchScheduler {
 public:
  Volcano(std::string scheduler, std::string queue)
      : scheduler_(std::move(scheduler)), queue_(std::move(queue)) {}

  const Kind* gang_kind() const override { return &kinds::kPodGroup; }

  std::string gang_name(const Object& owner) const override {
    return "ray-" +
           (made_by_rayjob(owner) ? std::string(owner.label(ray_keys::kOriginName))
                                  : owner.name()) +
           "-pg";
  }

  Result<std::optional<PlannedWrite>> sync(const Object& owner, const GangSize& size,
                                           const ObjectPtr& existing) const override {
    if (!existing) {
      TRY_ASSIGN(Json pod_group, create(owner, size));
      PlannedWrite write{
          client::CreateWrite{kinds::kPodGroup, owner.name_space(), std::move(pod_group)}};
      write.fine_if = Code::AlreadyExists;
      write.on_failed = EventNote{
          EventNote::Type::Warning, "FailedToCreatePodGroup",
          "Failed to create PodGroup " + owner.name_space() + "/" + gang_name(owner), "Create"};
      return std::optional<PlannedWrite>(std::move(write));
    }
    const auto document = existing->document();
    const Json before = spec_of(*document);
    Json after = before;
    apply_queue(owner, queue_, after);
    set_path(after, {"minMember"}, size.members);
    // Amounts that are equal in another spelling are left as they are.
    if (!same_resources(*document, size)) apply_size(size, after);
    return spec_patch(existing, before, after);
  }

  std::optional<PlannedWrite> resize(const GangSize& size,
                                     const ObjectPtr& existing) const override {
    if (!existing) return std::nullopt;
    const auto document = existing->document();
    if (int_at(*document, {"spec", "minMember"}) == size.members &&
        same_resources(*document, size)) {
      return std::nullopt;
    }
    const Json before = spec_of(*document);
    Json after = before;
    apply_size(size, after);
    return spec_patch(existing, before, after);
  }

  std::optional<PlannedWrite> follow_owner(const Object& owner,
                                           const ObjectPtr& existing) const override {
    if (!existing) return std::nullopt;
    const Json before = spec_of(*existing->document());
    Json after = before;
    apply_queue(owner, queue_, after);
    return spec_patch(existing, before, after);
  }

  void mark_child(const Object& parent, ChildKind kind, std::string_view group,
                  Json& child) const override {
    if (const std::string queue = label_or_annotation(parent, keys::kVolcanoQueueName);
        !queue.empty()) {
      set_path(child, {"metadata", "labels", keys::kVolcanoQueueName}, Json(queue));
    }
    if (const std::string priority = priority_class_of(parent); !priority.empty()) {
      set_path(child, {"metadata", "labels", ray_keys::kPriorityClassName}, Json(priority));
    }
    set_path(child, {"metadata", "annotations", keys::kGroupName}, Json(gang_name(parent)));
    set_path(child, {"metadata", "annotations", keys::kTaskSpec}, Json(group));
    if (kind != ChildKind::RayCluster) set_path(child, {"spec", "schedulerName"}, Json(scheduler_));
  }

 private:
  Result<Json> create(const Object& owner, const GangSize& size) const {
    const std::string name = gang_name(owner);
    Json out = new_object(kinds::kPodGroup, owner.name_space(), name);
    Labels annotations = string_map(find(*owner.document(), {"metadata", "annotations"}));
    annotations.erase(std::string(kLastApplied));
    set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
    set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(owner)});
    Json spec(boost::json::object_kind);
    apply_size(size, spec);
    apply_queue(owner, queue_, spec);
    TRY_ASSIGN(const std::optional<Json> topology, network_topology(owner, name));
    if (topology) set_path(spec, {"networkTopology"}, *topology);
    set_path(out, {"spec"}, std::move(spec));
    set_path(out, {"status", "phase"}, "Pending");
    return out;
  }

  const std::string scheduler_, queue_;
};

}  // namespace

std::unique_ptr<BatchScheduler> make_volcano_batch_scheduler(std::string scheduler,
                                                             std::string queue) {
  return std::make_unique<Volcano>(std::move(scheduler), std::move(queue));
}

std::unique_ptr<BatchScheduler> make_volcano_batch_scheduler() {
  return make_volcano_batch_scheduler(std::string(keys::kVolcanoScheduler),
                                      std::string(keys::kDefaultQueue));
}

}  // namespace krater::controllers
