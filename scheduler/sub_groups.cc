#include "scheduler/sub_groups.h"

#include "base/strings.h"

namespace krater::scheduler {

std::optional<NetworkWish> network_wish(const Json* topology) {
  if (topology == nullptr || !topology->is_object()) return std::nullopt;
  NetworkWish out;
  out.hard = text_at(*topology, {"mode"}) != "soft";
  out.highest = int_at(*topology, {"highestTierAllowed"});
  out.highest_name = text_at(*topology, {"highestTierName"});
  return out;
}

std::optional<std::vector<std::string>> SubGroupPolicy::values_of(const Labels& labels) const {
  if (!selector || !selector->matches(labels)) return std::nullopt;
  std::vector<std::string> out;
  for (const std::string& key : keys) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second.empty()) return std::nullopt;
    out.push_back(label->second);
  }
  return out;
}

std::shared_ptr<const SubGroupPolicies> sub_group_policies(const Json* list) {
  if (list == nullptr || !list->is_array() || list->get_array().empty()) return nullptr;
  SubGroupPolicies out;
  for (const Json& one : list->get_array()) {
    SubGroupPolicy policy;
    policy.name = text_at(one, {"name"});
    policy.selector = LabelSelector();
    if (const Json* given = find(one, {"labelSelector"}); given != nullptr && given->is_object()) {
      Result<LabelSelector> read = LabelSelector::from_object(*given);
      policy.selector = read ? std::optional(*std::move(read)) : std::nullopt;
    }
    if (const JsonArray* keys = array_at(one, {"matchLabelKeys"})) {
      for (const Json& key : *keys) {
        if (key.is_string()) policy.keys.emplace_back(view(key.get_string()));
      }
    }
    policy.size = int_at(one, {"subGroupSize"}).value_or(1);
    policy.minimum = int_at(one, {"minSubGroups"}).value_or(0);
    policy.network = network_wish(find(one, {"networkTopology"}));
    out.push_back(std::move(policy));
  }
  return std::make_shared<const SubGroupPolicies>(std::move(out));
}

bool operator==(const SubGroupPolicy& a, const SubGroupPolicy& b) {
  const auto text = [](const SubGroupPolicy& one) {
    return one.selector ? one.selector->text() : std::string("!");
  };
  return a.name == b.name && a.keys == b.keys && a.size == b.size && a.minimum == b.minimum &&
         a.network == b.network && text(a) == text(b);
}

bool same_policies(const std::shared_ptr<const SubGroupPolicies>& a,
                   const std::shared_ptr<const SubGroupPolicies>& b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

std::int64_t SubGroup::index() const {
  return values.empty() ? 0 : parse_int(values.front()).value_or(0);
}

}  // namespace krater::scheduler
