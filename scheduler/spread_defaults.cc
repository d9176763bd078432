#include "scheduler/spread_defaults.h"

#include "base/json.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kService = "Service";

// A ReplicationController's selector is a plain map, the others' a LabelSelector.
std::string selector_text(const ObjectPtr& object) {
  const ObjectView view(object);
  const Json* given = find(view.document(), {"spec", "selector"});
  if (given == nullptr || !given->is_object()) return {};
  if (object->kind() == kReplicationControllerKind.kind)
    return LabelSelector::equals(string_map(given)).text();
  const Result<LabelSelector> read = LabelSelector::from_object(*given);
  return read ? read->text() : std::string();
}

std::string_view api_version_of(std::string_view kind) {
  return kind == kReplicationControllerKind.kind ? "v1" : "apps/v1";
}

}  // namespace

void SpreadDefaults::set(const ObjectPtr& object) {
  const Place place(object->name_space(), object->name());
  if (object->kind() != kService) {
    workloads_[std::string(object->kind())][place] = selector_text(object);
    return;
  }
  const ObjectView view(object);
  Labels selector = string_map(find(view.document(), {"spec", "selector"}));
  const auto known = services_.find(place);
  if (known != services_.end() && known->second == selector) return;
  remove(kinds::kService, place.first, place.second);
  if (selector.empty()) return;  // it means nobody
  by_label_.emplace(Mark(place.first, *selector.begin()), place);
  services_.emplace(place, std::move(selector));
}

void SpreadDefaults::remove(const Kind& kind, const std::string& name_space,
                            const std::string& name) {
  const Place place(name_space, name);
  if (kind.kind != kService) {
    workloads_[std::string(kind.kind)].erase(place);
    return;
  }
  const auto known = services_.find(place);
  if (known == services_.end()) return;
  const auto [from, to] = by_label_.equal_range(Mark(name_space, *known->second.begin()));
  for (auto one = from; one != to; ++one) {
    if (one->second != place) continue;
    by_label_.erase(one);
    break;
  }
  services_.erase(known);
}

std::vector<std::pair<std::string, std::string>> SpreadDefaults::names(const Kind& kind) const {
  std::vector<Place> out;
  if (kind.kind == kService) {
    for (const auto& [place, unused] : services_) out.push_back(place);
  } else if (const auto table = workloads_.find(std::string(kind.kind));
             table != workloads_.end()) {
    for (const auto& [place, unused] : table->second) out.push_back(place);
  }
  return out;
}

std::string SpreadDefaults::selector_for(const Object& pod) const {
  Labels common;
  for (const auto& label : pod.labels()) {
    const auto [from, to] = by_label_.equal_range(Mark(pod.name_space(), label));
    for (auto one = from; one != to; ++one) {
      const Labels& selector = services_.at(one->second);
      if (LabelSelector::equals(selector).matches(pod.labels()))
        common.insert(selector.begin(), selector.end());
    }
  }
  std::string out = common.empty() ? std::string() : LabelSelector::equals(common).text();
  const OwnerReference* owner = pod.controller();
  if (owner == nullptr || owner->api_version != api_version_of(owner->kind)) return out;
  const auto table = workloads_.find(owner->kind);
  if (table == workloads_.end()) return out;
  const auto workload = table->second.find({pod.name_space(), owner->name});
  if (workload == table->second.end() || workload->second.empty()) return out;
  return out.empty() ? workload->second : out + "," + workload->second;
}

std::vector<SpreadConstraint> default_spread(const LabelSelector& selector) {
  std::vector<SpreadConstraint> out(2);
  for (SpreadConstraint& one : out) {
    one.selector = selector;
    one.hard = false;
    one.all_keys = false;
  }
  out[0].topology_key = "kubernetes.io/hostname";
  out[0].max_skew = 3;
  out[1].topology_key = "topology.kubernetes.io/zone";
  out[1].max_skew = 5;
  return out;
}

}  // namespace krater::scheduler
