#include "scheduler/neighbours.h"

#include <algorithm>

#include "model/node.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::int64_t kFull = 100 * kPoint;
constexpr std::string_view kAffinity = "node(s) didn't match pod affinity rules";
constexpr std::string_view kAntiAffinity = "node(s) didn't match pod anti-affinity rules";
constexpr std::string_view kExisting = "node(s) didn't satisfy existing pods anti-affinity rules";
constexpr std::string_view kSpread = "node(s) didn't match pod topology spread constraints";
constexpr std::string_view kSpreadLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

bool means_all(const std::vector<PodTerm>& terms, const TaskSpec& pod,
               const NamespaceLabels& known) {
  return std::all_of(terms.begin(), terms.end(), [&](const PodTerm& term) {
    return term.means(pod.name_space(), pod.pod->labels(), known);
  });
}

bool tolerates_all(const PodShape& shape, const NodeSpec& node) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                       [&](const Toleration& one) { return one.tolerates(taint); });
  });
}

bool wants_node(const PodShape& shape, const NodeSpec& node) {
  for (const auto& [key, value] : shape.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  return shape.affinity.allows(node.name, node.labels);
}

// 1000 * ln(n), by squaring: each step gives one more binary digit of log2.
std::int64_t thousand_ln(std::int64_t n) {
  std::int64_t whole = 0;
  std::uint64_t x = static_cast<std::uint64_t>(n) << 16;
  while (x >= (std::uint64_t{2} << 16)) x >>= 1, ++whole;
  std::int64_t digits = 0;
  for (int i = 0; i < 14; ++i) {
    x = (x * x) >> 16;
    digits <<= 1;
    if (x >= (std::uint64_t{2} << 16)) x >>= 1, digits |= 1;
  }
  return ((whole << 14) + digits) * 693 >> 14;
}

}  // namespace

std::int64_t Neighbours::Tally::at(NodeSlot node) const {
  return has(node) ? counts[domains->of_slot[node]] : 0;
}
bool Neighbours::Tally::has(NodeSlot node) const {
  return node < domains->of_slot.size() && domains->of_slot[node] != Domains::kNone;
}

void Neighbours::add(Tally& tally, NodeSlot node, std::int64_t amount) {
  if (!tally.has(node)) return;
  tally.counts[tally.domains->of_slot[node]] += amount;
  tally.all += amount;
}

// To a node that counts, one pod more or less. Looking through all domains is left to the moment
// when none is as empty any more.
void Neighbours::add(Spread& spread, NodeSlot node, int sign) {
  if (!spread.tally.has(node)) return;
  const std::int64_t before = spread.tally.at(node), after = before + sign;
  add(spread.tally, node, sign);
  if (after < spread.fewest) {
    spread.fewest = after;
    spread.emptiest = 1;
  } else if (after == spread.fewest) {
    ++spread.emptiest;
  } else if (before == spread.fewest && --spread.emptiest == 0) {
    find_emptiest(spread);
  }
}

void Neighbours::find_emptiest(Spread& spread) {
  spread.emptiest = 0;
  for (std::uint32_t domain = 0; domain < spread.tally.domains->count; ++domain) {
    if (!spread.counts_domain[domain]) continue;
    const std::int64_t count = spread.tally.counts[domain];
    if (spread.emptiest == 0 || count < spread.fewest) {
      spread.fewest = count;
      spread.emptiest = 1;
    } else if (count == spread.fewest) {
      ++spread.emptiest;
    }
  }
}

Neighbours::Neighbours(const Session& session, TaskSpecPtr task)
    : session_(session), task_(std::move(task)), rules_(session.plugins().neighbours) {
  static const PodTerms nothing;
  const PodTerms& terms = task_->terms == nullptr ? nothing : *task_->terms;
  matches_itself_ = means_all(terms.affinity, *task_, session_.namespaces());
  for (const PodTerm& term : terms.affinity) affinity_.push_back(tally_of(term.topology_key));
  for (const PodTerm& term : terms.anti_affinity)
    anti_affinity_.push_back(tally_of(term.topology_key));
  start_spread();
  const bool own_kind = !terms.speaks_of_pods() && !session_.anybody_speaks_of_pods();
  const auto& pods = session_.placed_pods();
  // Spread is among pods of one namespace, and they come by namespace.
  const auto from = !own_kind ? pods.begin()
                              : std::lower_bound(pods.begin(), pods.end(), task_->name_space(),
                                                 [](const PlacedPod& pod, const std::string& name) {
                                                   return pod.task->name_space() < name;
                                                 });
  for (auto pod = from; pod != pods.end(); ++pod) {
    if (own_kind && pod->task->name_space() != task_->name_space()) break;
    count(*pod->task, pod->node, 1, pod->leaving);
  }
  catch_up();
}

Neighbours::Tally Neighbours::tally_of(const std::string& topology_key) const {
  Tally out;
  out.domains = &session_.domains(topology_key);
  out.counts.assign(out.domains->count, 0);
  return out;
}

void Neighbours::start_spread() {
  if (task_->terms == nullptr) return;
  for (const SpreadConstraint& rule : task_->terms->spread) {
    Spread one{&rule, tally_of(rule.topology_key)};
    one.counts_node.assign(session_.node_slots(), false);
    one.counts_domain.assign(one.tally.domains->count, false);
    one.counts_itself = rule.means(task_->pod->labels());
    spread_.push_back(std::move(one));
  }
  // A node counts for a rule when it has the keys of all rules of that strictness.
  for (const NodeSlot node : session_.node_order()) {
    const NodeSpec& spec = *session_.node(node).spec;
    for (Spread& one : spread_) {
      const bool keys = !one.rule->all_keys ||
                        std::all_of(spread_.begin(), spread_.end(), [&](const Spread& other) {
                          return other.rule->hard != one.rule->hard || other.tally.has(node);
                        });
      if (!keys || (one.rule->honour_affinity && !wants_node(*task_->shape, spec)) ||
          (one.rule->honour_taints && !tolerates_all(*task_->shape, spec))) {
        continue;
      }
      one.counts_node[node] = true;
      if (!one.tally.has(node)) {
        one.domains += std::exchange(one.bare, true) ? 0 : 1;
        continue;
      }
      const std::uint32_t domain = one.tally.domains->of_slot[node];
      if (!one.counts_domain[domain]) ++one.domains;
      one.counts_domain[domain] = true;
    }
  }
  for (Spread& one : spread_) find_emptiest(one);
}

Neighbours::Tally& Neighbours::tally_for(std::map<std::string, Tally>& tallies,
                                         const PodTerm& term) const {
  const auto place = tallies.find(term.topology_key);
  if (place != tallies.end()) return place->second;
  return tallies.emplace(term.topology_key, tally_of(term.topology_key)).first->second;
}

void Neighbours::count(const TaskSpec& pod, NodeSlot node, int sign, bool leaving) {
  const NamespaceLabels& known = session_.namespaces();
  if (task_->terms != nullptr) {
    const PodTerms& mine = *task_->terms;
    // Who meets all terms at once counts for each of them.
    if (!mine.affinity.empty() && means_all(mine.affinity, pod, known)) {
      for (Tally& tally : affinity_) add(tally, node, sign);
    }
    for (std::size_t i = 0; i < mine.anti_affinity.size(); ++i) {
      if (mine.anti_affinity[i].means(pod.name_space(), pod.pod->labels(), known))
        add(anti_affinity_[i], node, sign);
    }
    for (const PodTerm& term : mine.preferred) {
      if (!term.means(pod.name_space(), pod.pod->labels(), known)) continue;
      add(tally_for(attraction_, term), node, sign * term.weight);
    }
    for (Spread& one : spread_) {
      if (leaving || pod.name_space() != task_->name_space() || !one.counts_node[node] ||
          !one.rule->means(pod.pod->labels())) {
        continue;
      }
      add(one, node, sign);
    }
  }
  if (pod.terms != nullptr && pod.terms->speaks_of_pods()) count_existing(pod, node, sign);
}

void Neighbours::count_existing(const TaskSpec& pod, NodeSlot node, int sign) {
  const NamespaceLabels& known = session_.namespaces();
  const auto means_me = [&](const PodTerm& term) {
    return term.means(task_->name_space(), task_->pod->labels(), known);
  };
  for (const PodTerm& term : pod.terms->anti_affinity) {
    if (means_me(term)) add(tally_for(existing_anti_, term), node, sign);
  }
  for (const PodTerm& term : pod.terms->preferred) {
    if (means_me(term)) add(tally_for(attraction_, term), node, sign * term.weight);
  }
  for (const PodTerm& term : pod.terms->affinity) {
    if (means_me(term)) add(tally_for(attraction_, term), node, sign);
  }
}

void Neighbours::catch_up() {
  const std::vector<PodMove>& moves = session_.pod_moves();
  for (; seen_moves_ < moves.size(); ++seen_moves_) {
    const PodMove& move = moves[seen_moves_];
    count(*move.task, move.node, move.sign, /*leaving=*/false);
  }
}

bool Neighbours::affinity_holds(NodeSlot node) const {
  bool all_there = true, anybody = false;
  for (const Tally& tally : affinity_) {
    if (!tally.has(node)) return false;
    all_there = all_there && tally.at(node) > 0;
    anybody = anybody || tally.all > 0;
  }
  // The first of its kind has nobody to go to but itself.
  return all_there || (!anybody && matches_itself_);
}

std::string_view Neighbours::spread_rejects(NodeSlot node) const {
  for (const Spread& one : spread_) {
    if (!one.rule->hard) continue;
    if (!one.tally.has(node)) return kSpreadLabel;
    const std::int64_t fewest = one.domains < one.rule->min_domains ? 0 : one.fewest;
    if (one.tally.at(node) + (one.counts_itself ? 1 : 0) - fewest > one.rule->max_skew)
      return kSpread;
  }
  return {};
}

std::string_view Neighbours::reject(NodeSlot node) const {
  if (rules_.affinity) {
    if (!affinity_holds(node)) return kAffinity;
    for (const Tally& tally : anti_affinity_) {
      if (tally.at(node) > 0) return kAntiAffinity;
    }
    for (const auto& [key, tally] : existing_anti_) {
      if (tally.at(node) > 0) return kExisting;
    }
  }
  return rules_.spread ? spread_rejects(node) : std::string_view();
}

void Neighbours::add_scores(const std::vector<NodeSlot>& nodes,
                            std::vector<std::int64_t>& scores) const {
  if (rules_.affinity_weight != 0 && !attraction_.empty()) add_affinity_scores(nodes, scores);
  if (rules_.spread_weight != 0) add_spread_scores(nodes, scores);
}

void Neighbours::add_affinity_scores(const std::vector<NodeSlot>& nodes,
                                     std::vector<std::int64_t>& scores) const {
  std::vector<std::int64_t> raw(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& [key, tally] : attraction_) raw[i] += tally.at(nodes[i]);
  }
  const auto [low, high] = std::minmax_element(raw.begin(), raw.end());
  if (raw.empty() || *low == *high) return;
  const std::int64_t least = *low, span = *high - *low;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    scores[i] += rules_.affinity_weight * scale(kFull, raw[i] - least, span);
}

// The fewer of its kind are in the domain, the better; domains of a rule with many of them weigh
// more.
void Neighbours::add_spread_scores(const std::vector<NodeSlot>& nodes,
                                   std::vector<std::int64_t>& scores) const {
  std::vector<std::int64_t> raw(nodes.size(), 0);
  std::vector<bool> counts(nodes.size(), true);
  bool any = false;
  for (const Spread& one : spread_) {
    if (one.rule->hard) continue;
    any = true;
    const std::int64_t weight = thousand_ln(one.domains + 2);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (one.counts_node[nodes[i]] && !one.tally.has(nodes[i])) continue;
      if (one.counts_node[nodes[i]]) {
        raw[i] += one.tally.at(nodes[i]) * weight + (one.rule->max_skew - 1) * 1000;
      } else {
        counts[i] = false;
      }
    }
  }
  if (!any) return;
  std::int64_t least = INT64_MAX, most = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!counts[i]) continue;
    least = std::min(least, raw[i]);
    most = std::max(most, raw[i]);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!counts[i]) continue;
    scores[i] +=
        rules_.spread_weight * (most == 0 ? kFull : scale(kFull, most + least - raw[i], most));
  }
}

}  // namespace krater::scheduler
