#include "scheduler/pod_terms.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

const JsonArray& list_at(const Json& root, JsonPath path) {
  static const JsonArray none;
  const JsonArray* list = array_at(root, path);
  return list == nullptr ? none : *list;
}

std::optional<LabelSelector> selector_at(const Json& root, JsonPath path) {
  const Json* given = find(root, path);
  if (given == nullptr || given->is_null()) return std::nullopt;
  Result<LabelSelector> read = LabelSelector::from_object(*given);
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

// Adds "key in (the pod's own value)" to a selector, for the keys that the pod has.
void bind_keys(Json& selector, const Json& holder, std::string_view list, std::string_view op,
               const Labels& own) {
  for (const Json& key : list_at(holder, {list})) {
    if (!key.is_string()) continue;
    const auto label = own.find(std::string(view(key.get_string())));
    if (label == own.end()) continue;
    JsonObject requirement;
    requirement["key"] = label->first;
    requirement["operator"] = op;
    requirement["values"] = JsonArray{Json(label->second)};
    JsonArray all = list_at(selector, {"matchExpressions"});
    all.push_back(std::move(requirement));
    set_path(selector, {"matchExpressions"}, std::move(all));
  }
}

PodTerm term_from(const Json& json, const PodView& pod, std::int64_t weight) {
  PodTerm out;
  out.topology_key = text_at(json, {"topologyKey"});
  out.weight = weight;
  if (const Json* given = find(json, {"labelSelector"}); given != nullptr && given->is_object()) {
    Json selector = *given;
    bind_keys(selector, json, "matchLabelKeys", "In", pod->labels());
    bind_keys(selector, json, "mismatchLabelKeys", "NotIn", pod->labels());
    if (Result<LabelSelector> read = LabelSelector::from_object(selector); read)
      out.selector = *std::move(read);
  }
  for (const Json& name : list_at(json, {"namespaces"})) {
    if (name.is_string()) out.namespaces.emplace(view(name.get_string()));
  }
  out.namespace_selector = selector_at(json, {"namespaceSelector"});
  if (out.namespaces.empty() && !out.namespace_selector) out.namespaces.insert(pod->name_space());
  return out;
}

void read_terms(const PodView& pod, std::string_view kind, std::vector<PodTerm>& required,
                std::vector<PodTerm>& preferred, std::int64_t sign) {
  const Json* root = find(pod.spec(), {"affinity", kind});
  if (root == nullptr) return;
  for (const Json& term : list_at(*root, {"requiredDuringSchedulingIgnoredDuringExecution"}))
    required.push_back(term_from(term, pod, 0));
  for (const Json& one : list_at(*root, {"preferredDuringSchedulingIgnoredDuringExecution"})) {
    const Json* term = find(one, {"podAffinityTerm"});
    if (term == nullptr) continue;
    preferred.push_back(term_from(*term, pod, sign * int_at(one, {"weight"}).value_or(1)));
  }
}

SpreadConstraint spread_from(const Json& json, const PodView& pod) {
  SpreadConstraint out;
  out.topology_key = text_at(json, {"topologyKey"});
  out.max_skew = int_at(json, {"maxSkew"}).value_or(1);
  out.min_domains = int_at(json, {"minDomains"}).value_or(1);
  out.hard = text_at(json, {"whenUnsatisfiable"}) != "ScheduleAnyway";
  out.honour_affinity = text_at(json, {"nodeAffinityPolicy"}) != "Ignore";
  out.honour_taints = text_at(json, {"nodeTaintsPolicy"}) == "Honor";
  Json selector;
  if (const Json* given = find(json, {"labelSelector"}); given != nullptr && given->is_object())
    selector = *given;
  bind_keys(selector, json, "matchLabelKeys", "In", pod->labels());
  if (selector.is_null()) return out;
  if (Result<LabelSelector> read = LabelSelector::from_object(selector); read)
    out.selector = *std::move(read);
  return out;
}

}  // namespace

bool PodTerm::means(const std::string& name_space, const Labels& labels,
                    const NamespaceLabels& known) const {
  if (!selector) return false;
  bool in = namespaces.contains(name_space);
  if (!in && namespace_selector) {
    const auto place = known.find(name_space);
    in = namespace_selector->empty() ||
         (place != known.end() && namespace_selector->matches(place->second));
  }
  return in && selector->matches(labels);
}

bool PodTerms::helped_by_company() const {
  return !affinity.empty() || std::any_of(spread.begin(), spread.end(),
                                          [](const SpreadConstraint& one) { return one.hard; });
}

PodTermsPtr TermsPool::of(const PodView& pod) {
  const Json* affinity = find(pod.spec(), {"affinity"});
  const Json* spread = find(pod.spec(), {"topologySpreadConstraints"});
  const bool of_pods = affinity != nullptr && (find(*affinity, {"podAffinity"}) != nullptr ||
                                               find(*affinity, {"podAntiAffinity"}) != nullptr);
  if (!of_pods && spread == nullptr) return nullptr;
  std::string text = pod->name_space() + "\n";
  bool keyed = false;  // the pod's own labels are part of what it says
  for (const Json* part : {of_pods ? affinity : nullptr, spread}) {
    if (part != nullptr) append_json(text, *part);
    text += '\n';
  }
  keyed = text.find("atchLabelKeys") != std::string::npos;
  if (keyed) {
    for (const auto& [key, value] : pod->labels()) text += key + "=" + value + ",";
  }
  std::weak_ptr<const PodTerms>& slot = known_[text];
  if (PodTermsPtr known = slot.lock()) return known;
  PodTerms out;
  if (of_pods) {
    read_terms(pod, "podAffinity", out.affinity, out.preferred, 1);
    read_terms(pod, "podAntiAffinity", out.anti_affinity, out.preferred, -1);
  }
  if (spread != nullptr && spread->is_array()) {
    for (const Json& one : spread->get_array()) out.spread.push_back(spread_from(one, pod));
  }
  const auto made = std::make_shared<const PodTerms>(std::move(out));
  slot = made;
  return made;
}

std::vector<PodTermsPtr> TermsPool::alive() {
  std::vector<PodTermsPtr> out;
  for (auto place = known_.begin(); place != known_.end();) {
    if (PodTermsPtr one = place->second.lock()) {
      out.push_back(std::move(one));
      ++place;
    } else {
      place = known_.erase(place);
    }
  }
  return out;
}

}  // namespace krater::scheduler
