#include "controllers/storage/claim_step.h"

#include <algorithm>

#include "controllers/storage/writes.h"
#include "model/keys.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// "access modes, "capacity": what a claim's status repeats of its volume.
Json status_of(const PersistentVolumeClaimView& claim, std::string_view phase,
               const PersistentVolumeView* volume) {
  const Json* before = find(claim.document(), {"status"});
  Json out = before == nullptr ? Json(JsonObject()) : *before;
  set_path(out, {"phase"}, Json(phase));
  if (phase == "Pending") {
    erase_path(out, {"accessModes"});
    erase_path(out, {"capacity"});
  }
  if (volume == nullptr) return out;
  if (const Json* modes = find(volume->document(), {"spec", "accessModes"}))
    set_path(out, {"accessModes"}, *modes);
  if (const Json* capacity = find(volume->document(), {"spec", "capacity"}))
    set_path(out, {"capacity"}, *capacity);
  return out;
}

class Pass {
 public:
  explicit Pass(const ClaimSeen& seen) : seen_(seen), claim_(seen.claim) {}

  Plan run() && {
    if (claim_->deletion()) {
      if (claim_.has_finalizer(keys::kClaimProtection) && !seen_.in_use)
        plan_.then(drop_finalizers(kinds::kPersistentVolumeClaim, *claim_.object(),
                                   {keys::kClaimProtection}));
    } else if (claim_.volume_name().empty()) {
      find_volume();
    } else {
      keep_volume();
    }
    return std::move(plan_);
  }

 private:
  void tell(Type type, std::string_view reason, std::string message) {
    plan_.events.push_back({type, std::string(reason), std::move(message)});
  }

  void set_status(std::string_view phase, const PersistentVolumeView* volume = nullptr) {
    const Json wanted = status_of(claim_, phase, volume);
    const Json* before = find(claim_.document(), {"status"});
    if (before != nullptr && *before == wanted) return;
    plan_.then(
        write_status(kinds::kPersistentVolumeClaim, claim_.document(), *claim_.object(), wanted));
  }

  // Both sides name each other; the volume first, so that no two claims have it.
  void bind(const PersistentVolumeView& volume) {
    if (volume.claim_uid() != claim_->uid()) {
      JsonObject metadata;
      // A volume that the user reserved stays reserved when the claim is gone.
      if (volume.claim_ref() == nullptr)
        metadata["annotations"] = JsonObject{{keys::kBoundByController, "yes"}};
      JsonObject patch{{"spec", JsonObject{{"claimRef", claim_reference(*claim_.object())}}}};
      if (!metadata.empty()) patch["metadata"] = std::move(metadata);
      plan_.then(patch_volume(*volume.object(), std::move(patch)));
    }
    if (claim_.volume_name() != volume->name() || !claim_.bound()) {
      JsonObject annotations{{keys::kBindCompleted, "yes"}};
      if (claim_.volume_name().empty()) annotations[keys::kBoundByController] = "yes";
      client::PatchWrite write{
          kinds::kPersistentVolumeClaim, claim_->name_space(), claim_->name(),
          client::PatchType::Merge,
          JsonObject{{"metadata", JsonObject{{"annotations", std::move(annotations)}}},
                     {"spec", JsonObject{{"volumeName", volume->name()}}}}};
      plan_.then({std::move(write), {}, {}, {}});
    }
    set_status("Bound", &volume);
  }

  void find_volume() {
    const bool waits = seen_.storage_class.waits_for_consumer() && claim_.selected_node().empty();
    const NodePlace chosen{node_name(), node_labels()};
    const PersistentVolumeView* volume =
        choose_volume(seen_.volumes, claim_, seen_.node == nullptr ? nullptr : &chosen);
    if (volume != nullptr && waits && !is_reserved_for(*volume, claim_)) volume = nullptr;
    if (volume != nullptr) return bind(*volume);
    set_status("Pending");
    if (waits) {
      tell(Type::Normal, "WaitForFirstConsumer",
           "waiting for first consumer to be created before binding");
    } else if (claim_.class_name().empty()) {
      tell(Type::Normal, "FailedBinding",
           "no persistent volumes available for this claim and no storage class is set");
    } else {
      provision();
    }
  }

  void provision() {
    const StorageClassView& of = seen_.storage_class;
    if (!of) {
      return tell(Type::Warning, "ProvisioningFailed",
                  "storageclass.storage.k8s.io \"" + claim_.class_name() + "\" not found");
    }
    if (!of.provisions()) {
      return tell(
          Type::Warning, "FailedBinding",
          "no persistent volumes available for this claim and its storage class makes none");
    }
    if (of.provisioner() != keys::kDirectoryProvisioner) return leave_to_others(of.provisioner());
    if (claim_.is_block())
      return tell(Type::Warning, "ProvisioningFailed", "a directory is no block device");
    if (claim_.selector() != nullptr) {
      return tell(Type::Warning, "ProvisioningFailed",
                  "claim.Spec.Selector is not supported for dynamic provisioning");
    }
    if (claim_.selected_node().empty()) {
      return tell(Type::Warning, "ProvisioningFailed",
                  "no node is chosen: a class of " + std::string(keys::kDirectoryProvisioner) +
                      " needs volumeBindingMode WaitForFirstConsumer");
    }
    if (seen_.node == nullptr) return choose_again();
    const std::string name = "pvc-" + claim_->uid().text();
    plan_.then({client::CreateWrite{kinds::kPersistentVolume, "", directory(name)},
                Code::AlreadyExists,
                EventNote{Type::Normal, "ProvisioningSucceeded",
                          "Successfully provisioned volume " + name},
                EventNote{Type::Warning, "ProvisioningFailed",
                          "failed to provision volume with StorageClass \"" + claim_.class_name() +
                              "\""}});
  }

  // The node went before it had a volume.
  void choose_again() {
    tell(Type::Warning, "ProvisioningFailed", "node \"" + claim_.selected_node() + "\" not found");
    client::PatchWrite write{
        kinds::kPersistentVolumeClaim, claim_->name_space(), claim_->name(),
        client::PatchType::Merge,
        JsonObject{
            {"metadata", JsonObject{{"annotations", JsonObject{{keys::kSelectedNode, nullptr}}}}}}};
    plan_.then({std::move(write), {}, {}, {}});
  }

  void leave_to_others(const std::string& provisioner) {
    if (claim_.annotation(keys::kStorageProvisioner) != provisioner) {
      client::PatchWrite write{
          kinds::kPersistentVolumeClaim, claim_->name_space(), claim_->name(),
          client::PatchType::Merge,
          JsonObject{
              {"metadata", JsonObject{{"annotations",
                                       JsonObject{{keys::kStorageProvisioner, provisioner},
                                                  {keys::kOldStorageProvisioner, provisioner}}}}}}};
      plan_.then({std::move(write), {}, {}, {}});
    }
    tell(Type::Normal, "ExternalProvisioning",
         "Waiting for a volume to be created either by the external provisioner '" + provisioner +
             "' or manually by the system administrator. If volume creation is delayed, please "
             "verify that the provisioner is running and correctly registered.");
  }

  Json directory(const std::string& name) const {
    const ObjectView node(seen_.node);
    std::string base(node.annotation(keys::kVolumesDirectory));
    if (base.empty()) base = keys::kDefaultVolumesDirectory;
    const std::string_view host = seen_.node->label(keys::kHostname);
    const Json* modes = find(claim_.document(), {"spec", "accessModes"});
    Json out = new_object(kinds::kPersistentVolume, "", name);
    set_path(out, {"metadata", "annotations"},
             JsonObject{{keys::kProvisionedBy, keys::kDirectoryProvisioner},
                        {keys::kVolumeNode, node_name()}});
    const bool keeps = seen_.storage_class.reclaim_policy() == ReclaimPolicy::Retain;
    JsonObject spec{
        {"capacity", JsonObject{{"storage", claim_.request().text()}}},
        {"accessModes", modes == nullptr ? Json(JsonArray()) : *modes},
        {"claimRef", claim_reference(*claim_.object())},
        {"persistentVolumeReclaimPolicy", keeps ? "Retain" : "Delete"},
        {"storageClassName", claim_.class_name()},
        {"volumeMode", "Filesystem"},
        {"hostPath", JsonObject{{"path", base + "/" + name}, {"type", "DirectoryOrCreate"}}}};
    JsonObject term{{"key", keys::kHostname},
                    {"operator", "In"},
                    {"values", JsonArray{host.empty() ? Json(node_name()) : Json(host)}}};
    spec["nodeAffinity"] = JsonObject{
        {"required",
         JsonObject{{"nodeSelectorTerms",
                     JsonArray{JsonObject{{"matchExpressions", JsonArray{std::move(term)}}}}}}}};
    set_path(out, {"spec"}, std::move(spec));
    return out;
  }

  void keep_volume() {
    const PersistentVolumeView& volume = seen_.volume;
    if (!volume) {
      if (!claim_.bound()) return set_status("Pending");
      if (claim_.phase() != "Lost") {
        tell(Type::Warning, "ClaimLost",
             "Bound claim has lost its PersistentVolume. Data on the volume is lost! Cluster "
             "intervention needed to resolve this issue.");
      }
      return set_status("Lost");
    }
    if (volume.claim_ref() == nullptr) {
      if (!claim_.bound() && !fits(volume, claim_)) {
        tell(Type::Warning, "VolumeMismatch",
             "Cannot bind to requested volume \"" + volume->name() + "\": it does not fit");
        return set_status("Pending");
      }
      return bind(volume);
    }
    if (is_reserved_for(volume, claim_)) return bind(volume);
    if (!claim_.bound()) {
      tell(Type::Warning, "FailedBinding",
           "volume \"" + volume->name() + "\" already bound to a different claim.");
      return set_status("Pending");
    }
    if (claim_.phase() != "Lost") {
      tell(Type::Warning, "ClaimMisbound",
           "Two claims are bound to the same volume, this one is bound incorrectly");
    }
    set_status("Lost");
  }

  const std::string& node_name() const {
    static const std::string kNone;
    return seen_.node == nullptr ? kNone : seen_.node->name();
  }
  const Labels& node_labels() const {
    static const Labels kNone;
    return seen_.node == nullptr ? kNone : seen_.node->labels();
  }

  const ClaimSeen& seen_;
  const PersistentVolumeClaimView& claim_;
  Plan plan_{};
};

}  // namespace

Plan claim_step(const ClaimSeen& seen) {
  return Pass(seen).run();
}

}  // namespace krater::controllers
