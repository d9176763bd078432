// What a pod says of other pods: affinity, anti-affinity and topology spread, read once and shared
// by the pods that say the same. Semantics are Kubernetes'. Pure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/pod.h"
#include "model/selector.h"

namespace krater::scheduler {

using NamespaceLabels = std::map<std::string, Labels>;

struct PodTerm {
  std::string topology_key;
  std::optional<LabelSelector> selector{};  // absent: nobody
  std::set<std::string> namespaces{};
  std::optional<LabelSelector> namespace_selector{};  // absent: only `namespaces`
  std::int64_t weight = 0;                            // of a preference; negative: rather not

  // Whether a pod with these labels in this namespace is meant.
  bool means(const std::string& name_space, const Labels& labels,
             const NamespaceLabels& known) const;
};

struct SpreadConstraint {
  std::string topology_key;
  std::optional<LabelSelector> selector{};  // absent: nobody
  std::int64_t max_skew = 1, min_domains = 1;
  bool hard = true;             // DoNotSchedule
  bool honour_affinity = true;  // nodes the pod may not go to do not count
  bool honour_taints = false;
  bool all_keys = true;  // a node that lacks a key of the others does not count

  // Whether a pod of the same namespace with these labels is meant.
  bool means(const Labels& labels) const { return selector && selector->matches(labels); }
};

struct PodTerms {
  std::vector<PodTerm> affinity{}, anti_affinity{}, preferred{};
  std::vector<SpreadConstraint> spread{};
  // A pod that comes to a node, or is labelled otherwise, may be what this one waits for.
  bool helped_by_company() const;
  bool speaks_of_pods() const {
    return !affinity.empty() || !anti_affinity.empty() || !preferred.empty();
  }
};
using PodTermsPtr = std::shared_ptr<const PodTerms>;

// Terms in use. Null for a pod that says nothing of others.
class TermsPool {
 public:
  PodTermsPtr of(const PodView& pod);
  // All that some pod still holds, in the order of their texts.
  std::vector<PodTermsPtr> alive();

 private:
  std::map<std::string, std::weak_ptr<const PodTerms>, std::less<>> known_;
};

}  // namespace krater::scheduler
