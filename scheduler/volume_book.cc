#include "scheduler/volume_book.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::scheduler {
namespace {

// As kube-scheduler words them.
constexpr std::string_view kNoVolume = "node(s) didn't find available persistent volumes to bind";
constexpr std::string_view kOtherNode = "node(s) had volume node affinity conflict";
constexpr std::string_view kNoSuchVolume =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr std::string_view kTooMany = "node(s) exceed max volume count";
constexpr std::string_view kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::pair<std::string_view, std::string_view> kZoneLabels[] = {
    {"failure-domain.beta.kubernetes.io/zone", kZone},
    {"failure-domain.beta.kubernetes.io/region", kRegion},
    {kZone, kZone},
    {kRegion, kRegion}};

// "a__b" is two; none, when one of them has no name.
std::set<std::string, std::less<>> names_in(std::string_view label) {
  constexpr std::string_view kBetween = "__";
  std::set<std::string, std::less<>> out;
  while (true) {
    const std::size_t end = label.find(kBetween);
    const std::string_view name = trim(label.substr(0, end));
    if (name.empty()) return {};
    out.emplace(name);
    if (end == std::string_view::npos) return out;
    label.remove_prefix(end + kBetween.size());
  }
}

std::vector<VolumeZone> zones_of(const Object& volume) {
  std::vector<VolumeZone> out;
  for (const auto& [label, successor] : kZoneLabels) {
    auto names = names_in(volume.label(label));
    if (!names.empty()) out.push_back({label, successor, std::move(names)});
  }
  return out;
}

std::string about(std::string_view name, std::string_view what) {
  return "persistentvolumeclaim \"" + std::string(name) + "\" " + std::string(what);
}

client::PatchWrite reservation(const PersistentVolumeView& volume,
                               const PersistentVolumeClaimView& claim) {
  client::PatchWrite out{
      kinds::kPersistentVolume, "", volume->name(), client::PatchType::Merge,
      JsonObject{
          {"metadata", JsonObject{{"annotations", JsonObject{{keys::kBoundByController, "yes"}}}}},
          {"spec", JsonObject{{"claimRef", claim_reference(*claim.object())}}}}};
  out.only_if = volume->revision();
  return out;
}

client::PatchWrite selection(const PersistentVolumeClaimView& claim, const std::string& node) {
  client::PatchWrite out{
      kinds::kPersistentVolumeClaim, claim->name_space(), claim->name(), client::PatchType::Merge,
      JsonObject{
          {"metadata", JsonObject{{"annotations", JsonObject{{keys::kSelectedNode, node}}}}}}};
  out.only_if = claim->revision();
  return out;
}

bool has_volume(const PersistentVolumeClaimView& claim) {
  return claim.bound() && !claim.volume_name().empty();
}

}  // namespace

bool VolumeZone::holds(const Labels& node) const {
  auto mine = node.find(label);
  if (mine == node.end()) mine = node.find(successor);
  return mine != node.end() && names.contains(mine->second);
}

void VolumeBook::set_claim(const ObjectPtr& claim) {
  claims_.insert_or_assign(Place(claim->name_space(), claim->name()),
                           PersistentVolumeClaimView(claim));
  changed();
}

void VolumeBook::remove_claim(const std::string& name_space, const std::string& name) {
  claims_.erase(Place(name_space, name));
  changed();
}

void VolumeBook::set_volume(const ObjectPtr& volume) {
  const PersistentVolumeView view(volume);
  volumes_.insert_or_assign(volume->name(), Volume{view, view.affinity(), zones_of(*volume)});
  changed();
}

void VolumeBook::remove_volume(const std::string& name) {
  volumes_.erase(name);
  changed();
}

void VolumeBook::set_class(const ObjectPtr& storage_class) {
  classes_.insert_or_assign(storage_class->name(), StorageClassView(storage_class));
  changed();
}

void VolumeBook::remove_class(const std::string& name) {
  classes_.erase(name);
  changed();
}

std::vector<VolumeBook::Place> VolumeBook::claim_names() const {
  std::vector<Place> out;
  for (const auto& [place, claim] : claims_) out.push_back(place);
  return out;
}

std::vector<std::string> VolumeBook::volume_names() const {
  std::vector<std::string> out;
  for (const auto& [name, volume] : volumes_) out.push_back(name);
  return out;
}

std::vector<std::string> VolumeBook::class_names() const {
  std::vector<std::string> out;
  for (const auto& [name, one] : classes_) out.push_back(name);
  return out;
}

const PersistentVolumeClaimView* VolumeBook::claim_at(const Place& place) const {
  const auto found = claims_.find(place);
  return found == claims_.end() ? nullptr : &found->second;
}

const StorageClassView* VolumeBook::class_of(const PersistentVolumeClaimView& claim) const {
  const auto found = classes_.find(claim.class_name());
  return found == classes_.end() ? nullptr : &found->second;
}

const std::vector<const VolumeBook::Volume*>& VolumeBook::candidates(
    const PersistentVolumeClaimView& claim) const {
  const auto [place, fresh] = candidates_.try_emplace(Place(claim->name_space(), claim->name()));
  std::vector<const Volume*>& out = place->second;
  if (!fresh) return out;
  for (const auto& [name, volume] : volumes_) {
    const PersistentVolumeView& view = volume.view;
    if (is_reserved_for(view, claim)) {
      out = {&volume};
      return out;
    }
    if (view.claim_ref() == nullptr && view.phase() == "Available" && fits(view, claim))
      out.push_back(&volume);
  }
  std::ranges::stable_sort(out, [](const Volume* a, const Volume* b) {
    return a->view.capacity() < b->view.capacity();
  });
  return out;
}

const VolumeBook::Volume* VolumeBook::choose(const PersistentVolumeClaimView& claim,
                                             const NodePlace& node,
                                             const std::set<std::string>& taken) const {
  for (const Volume* volume : candidates(claim)) {
    if (!taken.contains(volume->view->name()) && volume->affinity.allows(node.name, node.labels))
      return volume;
  }
  return nullptr;
}

bool VolumeBook::can_be_made(const PersistentVolumeClaimView& claim, const NodePlace& node) const {
  const StorageClassView* of = class_of(claim);
  if (of == nullptr || !of->provisions() || !of->allows(node.labels)) return false;
  // It is being made already.
  const std::string chosen = claim.selected_node();
  return chosen.empty() || chosen == node.name;
}

std::string VolumeBook::reject(const std::vector<Place>& claims, const NodePlace& node) const {
  std::set<std::string> taken;
  for (const Place& place : claims) {
    const PersistentVolumeClaimView* claim = claim_at(place);
    if (claim == nullptr) return about(place.second, "not found");
    if ((*claim)->deletion()) return about(place.second, "is being deleted");
    if (has_volume(*claim)) {
      const auto volume = volumes_.find(claim->volume_name());
      if (volume == volumes_.end()) return std::string(kNoSuchVolume);
      if (!volume->second.affinity.allows(node.name, node.labels)) return std::string(kOtherNode);
      continue;
    }
    const StorageClassView* of = class_of(*claim);
    if (of == nullptr || !of->waits_for_consumer()) return std::string(kUnboundImmediate);
    if (const Volume* volume = choose(*claim, node, taken)) {
      taken.insert(volume->view->name());
    } else if (!can_be_made(*claim, node)) {
      return std::string(kNoVolume);
    }
  }
  return {};
}

bool VolumeBook::in_its_zones(const std::vector<Place>& claims, const Labels& node) const {
  if (std::ranges::none_of(kZoneLabels, [&](const auto& one) { return node.contains(one.first); }))
    return true;
  return std::ranges::all_of(claims, [&](const Place& place) {
    const PersistentVolumeClaimView* claim = claim_at(place);
    if (claim == nullptr) return true;
    const auto volume = volumes_.find(claim->volume_name());
    return volume == volumes_.end() ||
           std::ranges::all_of(volume->second.zones,
                               [&](const VolumeZone& zone) { return zone.holds(node); });
  });
}

bool VolumeBook::competes(const std::vector<Place>& claims) const {
  return std::ranges::any_of(claims, [&](const Place& place) {
    const PersistentVolumeClaimView* claim = claim_at(place);
    return claim != nullptr && !has_volume(*claim) && !candidates(*claim).empty();
  });
}

std::string_view VolumeBook::reject_beside(const std::vector<Place>& claims,
                                           const std::map<Place, int>& others,
                                           const NodePlace& node) const {
  std::set<std::string> taken;
  for (const auto& [place, users] : others) {
    if (std::ranges::find(claims, place) != claims.end()) continue;
    const PersistentVolumeClaimView* claim = claim_at(place);
    if (claim == nullptr || has_volume(*claim)) continue;
    if (const Volume* volume = choose(*claim, node, taken)) taken.insert(volume->view->name());
  }
  for (const Place& place : claims) {
    const PersistentVolumeClaimView* claim = claim_at(place);
    if (claim == nullptr || has_volume(*claim)) continue;
    if (const Volume* volume = choose(*claim, node, taken)) {
      taken.insert(volume->view->name());
    } else if (!can_be_made(*claim, node)) {
      return kNoVolume;
    }
  }
  return {};
}

std::optional<DriverVolume> VolumeBook::driver_volume_of(const std::string& volume) const {
  const auto place = volumes_.find(volume);
  if (place == volumes_.end()) return std::nullopt;
  const auto document = place->second.view.object()->document();
  const std::string driver = text_at(*document, {"spec", "csi", "driver"});
  if (driver.empty()) return std::nullopt;
  return DriverVolume{driver, text_at(*document, {"spec", "csi", "volumeHandle"})};
}

std::optional<DriverVolume> VolumeBook::driver_volume(const Place& place) const {
  const PersistentVolumeClaimView* claim = claim_at(place);
  if (claim == nullptr) return std::nullopt;
  if (volumes_.contains(claim->volume_name())) return driver_volume_of(claim->volume_name());
  // Its volume is still to be made; whoever makes it will attach it.
  const StorageClassView* of = class_of(*claim);
  if (of == nullptr || of->provisioner().empty()) return std::nullopt;
  return DriverVolume{of->provisioner(), "/claim/" + place.first + "/" + place.second};
}

std::string_view VolumeBook::reject_beyond_limit(const std::vector<Place>& claims,
                                                 const std::map<Place, int>& others,
                                                 const std::string& node) const {
  if (!limits_.limits(node)) return {};
  std::set<DriverVolume> there, wanted;
  for (const Place& place : claims) {
    if (auto one = driver_volume(place)) wanted.insert(*std::move(one));
  }
  if (wanted.empty()) return {};
  for (const auto& [place, users] : others) {
    if (auto one = driver_volume(place)) there.insert(*std::move(one));
  }
  for (const std::string& volume : limits_.attached(node)) {
    if (auto one = driver_volume_of(volume)) there.insert(*std::move(one));
  }
  return limits_.allows(node, there, wanted) ? std::string_view() : kTooMany;
}

Result<void> VolumeBook::choose_for(const std::vector<Place>& claims, const NodePlace& node,
                                    Choices& out) const {
  for (const Place& place : claims) {
    const PersistentVolumeClaimView* claim = claim_at(place);
    if (claim == nullptr) return make_error(Code::Conflict, about(place.second, "not found"));
    if (has_volume(*claim)) continue;
    if (const auto told = out.told.find(place); told != out.told.end()) {
      if (told->second != node.name) return make_error(Code::Conflict, std::string(kOtherNode));
      continue;
    }
    if (const Volume* volume = choose(*claim, node, out.taken)) {
      out.taken.insert(volume->view->name());
      if (volume->view.claim_uid() != (*claim)->uid())
        out.writes.emplace_back(reservation(volume->view, *claim));
      continue;
    }
    if (!can_be_made(*claim, node)) return make_error(Code::Conflict, std::string(kNoVolume));
    out.told.emplace(place, node.name);
    if (class_of(*claim)->provisioner() != keys::kDirectoryProvisioner)
      out.awaited.emplace(place, node.name);
    if (claim->selected_node() != node.name) out.writes.emplace_back(selection(*claim, node.name));
  }
  return {};
}

Result<bool> VolumeBook::bound_for(const Place& place, const std::string& node,
                                   Revision told) const {
  const PersistentVolumeClaimView* claim = claim_at(place);
  if (claim == nullptr) return make_error(Code::Conflict, about(place.second, "not found"));
  if (has_volume(*claim)) return true;
  if ((*claim)->revision() >= told && claim->selected_node() != node)
    return make_error(Code::Conflict,
                      about(place.second, "finds no volume on node \"" + node + "\""));
  return false;
}

}  // namespace krater::scheduler
