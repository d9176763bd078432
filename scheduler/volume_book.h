// What the scheduler knows of claims, volumes and their classes, and where that lets a pod go: on
// the nodes its bound volumes are reached from, and where its other claims find a volume or one can
// be made. Read by all of a session, changed between sessions; on the scheduler's loop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/object_client.h"
#include "model/storage.h"
#include "scheduler/volume_limits.h"

namespace krater::scheduler {

// A volume is reached from some zones, or regions, only. A node that lacks the older label may have
// its successor.
struct VolumeZone {
  std::string_view label, successor;
  std::set<std::string, std::less<>> names{};

  bool holds(const Labels& node) const;
};

class VolumeBook {
 public:
  using Place = std::pair<std::string, std::string>;  // namespace, name

  void set_claim(const ObjectPtr& claim);
  void remove_claim(const std::string& name_space, const std::string& name);
  void set_volume(const ObjectPtr& volume);
  void remove_volume(const std::string& name);
  void set_class(const ObjectPtr& storage_class);
  void remove_class(const std::string& name);
  std::vector<Place> claim_names() const;
  std::vector<std::string> volume_names() const;
  std::vector<std::string> class_names() const;

  // Why a pod with these claims cannot go to the node; "" when it can.
  std::string reject(const std::vector<Place>& claims, const NodePlace& node) const;
  // The node is in every zone and region that the bound volumes are labelled with; so is one that
  // is labelled with none.
  bool in_its_zones(const std::vector<Place>& claims, const Labels& node) const;
  // Whether its claims compete with others for the volumes of a node.
  bool competes(const std::vector<Place>& claims) const;
  // The same, with what those who go there as well take first.
  std::string_view reject_beside(const std::vector<Place>& claims,
                                 const std::map<Place, int>& others, const NodePlace& node) const;

  // How many of them a node may have attached.
  VolumeLimits& edit_limits() { return limits_; }
  const VolumeLimits& limits() const { return limits_; }
  // The same, when the node would have more volumes attached than its driver can; "" when not.
  std::string_view reject_beyond_limit(const std::vector<Place>& claims,
                                       const std::map<Place, int>& others,
                                       const std::string& node) const;

  // What has to be written for pods and their nodes: volumes that are reserved, the node for those
  // that are made.
  struct Choices {
    std::vector<client::Write> writes{};
    std::set<std::string> taken{};           // volumes
    std::map<Place, std::string> told{};     // claims for which volumes are made, and the node
    std::map<Place, std::string> awaited{};  // of these, by somebody outside
  };
  // Adds those of a pod. Code::Conflict when the volumes have gone.
  Result<void> choose_for(const std::vector<Place>& claims, const NodePlace& node,
                          Choices& out) const;
  // Whether the claim, whose volume is made for this node, has it. Code::Conflict when whoever
  // makes it has given up on the node. `told`: what is older does not know the node yet.
  Result<bool> bound_for(const Place& claim, const std::string& node, Revision told) const;

 private:
  struct Volume {
    PersistentVolumeView view;
    NodeAffinity affinity;
    std::vector<VolumeZone> zones;
  };
  const PersistentVolumeClaimView* claim_at(const Place& place) const;
  const StorageClassView* class_of(const PersistentVolumeClaimView& claim) const;
  // Those it could have, best first.
  const std::vector<const Volume*>& candidates(const PersistentVolumeClaimView& claim) const;
  const Volume* choose(const PersistentVolumeClaimView& claim, const NodePlace& node,
                       const std::set<std::string>& taken) const;
  bool can_be_made(const PersistentVolumeClaimView& claim, const NodePlace& node) const;
  // What its driver will call the claim's volume; nullopt: no driver attaches it.
  std::optional<DriverVolume> driver_volume(const Place& place) const;
  std::optional<DriverVolume> driver_volume_of(const std::string& volume) const;
  void changed() { candidates_.clear(); }

  std::map<Place, PersistentVolumeClaimView> claims_;
  std::map<std::string, Volume> volumes_;
  std::map<std::string, StorageClassView> classes_;
  mutable std::map<Place, std::vector<const Volume*>> candidates_;
  VolumeLimits limits_;
};

}  // namespace krater::scheduler
