// Reading volumes, claims and classes of storage, and which volume fits which claim: what the
// binder, the scheduler and the agent must see alike. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/node_affinity.h"
#include "model/object.h"
#include "model/storage_kinds.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
inline constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kStorageProvisioner = "volume.kubernetes.io/storage-provisioner";
inline constexpr std::string_view kOldStorageProvisioner =
    "volume.beta.kubernetes.io/storage-provisioner";
inline constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";
inline constexpr std::string_view kOldDefaultClass =
    "storageclass.beta.kubernetes.io/is-default-class";
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
// Makes directories on the node that a pod was given.
inline constexpr std::string_view kDirectoryProvisioner = "krater.io/node-directory";
// On a volume: the node that has its directory, as an annotation; that the directory may be there,
// as a finalizer. Whoever removes the directory removes the finalizer.
inline constexpr std::string_view kVolumeNode = "krater.io/node";
inline constexpr std::string_view kDirectoryFinalizer = "krater.io/node-directory";
// On a node: where its directories for volumes are.
inline constexpr std::string_view kVolumesDirectory = "krater.io/volumes-directory";
inline constexpr std::string_view kDefaultVolumesDirectory = "/var/lib/krater/volumes";
}  // namespace keys

enum class ReclaimPolicy { Retain, Delete, Recycle };

// What both sides say of a volume.
class StorageView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::string phase() const { return text({"status", "phase"}); }
  // "" is a class of its own: volumes without one.
  std::string class_name() const;
  bool is_block() const { return text({"spec", "volumeMode"}) == "Block"; }
  std::vector<std::string> access_modes() const;
};

class PersistentVolumeView : public StorageView {
 public:
  using StorageView::StorageView;

  Quantity capacity() const;
  ReclaimPolicy reclaim_policy() const;
  const Json* claim_ref() const { return find(document(), {"spec", "claimRef"}); }
  std::string claim_name() const { return text({"spec", "claimRef", "name"}); }
  std::string claim_namespace() const { return text({"spec", "claimRef", "namespace"}); }
  // "" when it is only reserved: the claim may still come.
  Uid claim_uid() const { return Uid(text({"spec", "claimRef", "uid"})); }
  // spec.nodeAffinity as a pod's would stand.
  NodeAffinity affinity() const;
  bool has_affinity() const { return find(document(), {"spec", "nodeAffinity"}) != nullptr; }
  std::string provisioner() const { return std::string(annotation(keys::kProvisionedBy)); }
  // Where it lies on a node; "" when it is of no kind that lies on one.
  std::string node_path() const;
  bool has_finalizer(std::string_view name) const;
};

class PersistentVolumeClaimView : public StorageView {
 public:
  using StorageView::StorageView;

  std::string volume_name() const { return text({"spec", "volumeName"}); }
  bool has_class() const { return find(document(), {"spec", "storageClassName"}) != nullptr; }
  Quantity request() const;
  const Json* selector() const { return find(document(), {"spec", "selector"}); }
  std::string selected_node() const { return std::string(annotation(keys::kSelectedNode)); }
  bool bound() const { return !annotation(keys::kBindCompleted).empty(); }
  bool is_exclusive() const;  // ReadWriteOncePod
  bool has_finalizer(std::string_view name) const;
};

class StorageClassView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::string provisioner() const { return text({"provisioner"}); }
  bool provisions() const { return object() != nullptr && provisioner() != keys::kNoProvisioner; }
  bool waits_for_consumer() const { return text({"volumeBindingMode"}) == "WaitForFirstConsumer"; }
  bool is_default() const;
  bool may_expand() const { return boolean({"allowVolumeExpansion"}).value_or(false); }
  ReclaimPolicy reclaim_policy() const;
  // Whether volumes may be made where these labels stand (allowedTopologies).
  bool allows(const Labels& node) const;
};

// The claim is held for it: named, with its uid or before it has one.
bool is_reserved_for(const PersistentVolumeView& volume, const PersistentVolumeClaimView& claim);
// Whether the claim could have the volume, on any node.
bool fits(const PersistentVolumeView& volume, const PersistentVolumeClaimView& claim);
// Of those that fit and nobody has: one reserved for the claim, else the smallest, by name among
// equals. `node`: it must be reachable from there; null: anywhere.
struct NodePlace {
  const std::string& name;
  const Labels& labels;
};
const PersistentVolumeView* choose_volume(const std::vector<PersistentVolumeView>& volumes,
                                          const PersistentVolumeClaimView& claim,
                                          const NodePlace* node);

// The class a claim without one gets: the newest default, by name among equals; null: none.
ObjectPtr default_class(const std::vector<ObjectPtr>& classes);

// The claims a pod uses, in its own order.
struct PodClaim {
  std::string volume, claim;
  bool ephemeral = false;  // made for this pod, and its own
  friend auto operator<=>(const PodClaim&, const PodClaim&) = default;
};
std::vector<PodClaim> pod_claims(const Json& pod);

// spec.claimRef of a volume that `claim` has.
Json claim_reference(const Object& claim);

}  // namespace krater
