// How the pods of a PodGroup fall into sub-groups (spec.subGroupPolicy), and which network it wants
// for itself and for them (spec.networkTopology). Pure.
//
// Always holds: a sub-group's counts are those of the tasks that were counted in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/selector.h"

namespace krater::scheduler {

// What a PodGroup, or a sub-group of it, says of HyperNodes.
struct NetworkWish {
  bool hard = true;
  std::optional<std::int64_t> highest{};  // tier
  std::string highest_name{};             // or this, when it is not empty
  bool any_tier() const { return !highest && highest_name.empty(); }
  friend bool operator==(const NetworkWish&, const NetworkWish&) = default;
};
// nullopt: nothing.
std::optional<NetworkWish> network_wish(const Json* topology);

struct SubGroupPolicy {
  std::string name;
  std::optional<LabelSelector> selector{};
  std::vector<std::string> keys{};  // labels whose values tell the sub-groups apart
  std::int64_t size = 1;            // tasks that a sub-group needs
  std::int64_t minimum = 0;         // sub-groups that the job needs
  std::optional<NetworkWish> network{};

  // What puts a pod with these labels into its sub-group; nullopt: the policy does not mean it.
  std::optional<std::vector<std::string>> values_of(const Labels& labels) const;
  friend bool operator==(const SubGroupPolicy& a, const SubGroupPolicy& b);
};
using SubGroupPolicies = std::vector<SubGroupPolicy>;
// null: there are none. A selector that cannot be read means nobody.
std::shared_ptr<const SubGroupPolicies> sub_group_policies(const Json* list);
bool same_policies(const std::shared_ptr<const SubGroupPolicies>& a,
                   const std::shared_ptr<const SubGroupPolicies>& b);

// The tasks of one policy that have the same values; or those that no policy means.
struct SubGroup {
  static constexpr std::uint32_t kNoPolicy = UINT32_MAX;
  std::uint32_t policy = kNoPolicy;
  std::vector<std::string> values{};
  std::int64_t size = 1;
  std::int64_t tasks = 0;
  std::int64_t ready = 0;        // allocated, succeeded
  std::int64_t waiting = 0;      // pipelined
  std::int64_t best_effort = 0;  // pending ones

  bool is_ready() const { return ready + best_effort >= size; }
  bool is_pipelined() const { return ready + waiting + best_effort >= size; }
  // The number that its first value is; 0 for other values.
  std::int64_t index() const;
};

// Every policy has its minimum among the sub-groups that `counted` accepts.
template <typename Counted>
bool minimums_met(const SubGroupPolicies& policies, const std::vector<SubGroup>& groups,
                  Counted counted) {
  std::vector<std::int64_t> have(policies.size(), 0);
  for (const SubGroup& one : groups) {
    if (one.policy < have.size() && one.tasks > 0 && counted(one)) ++have[one.policy];
  }
  for (std::size_t i = 0; i < have.size(); ++i) {
    if (have[i] < policies[i].minimum) return false;
  }
  return true;
}

}  // namespace krater::scheduler
