#include "controllers/apps/daemon_placement.h"

#include <algorithm>
#include <array>

namespace krater::controllers {
namespace {

struct Tolerated {
  std::string_view key, effect;
};
constexpr std::array kAlways{
    Tolerated{keys::kTaintNotReady, "NoExecute"},
    Tolerated{keys::kTaintUnreachable, "NoExecute"},
    Tolerated{keys::kTaintDiskPressure, "NoSchedule"},
    Tolerated{keys::kTaintMemoryPressure, "NoSchedule"},
    Tolerated{keys::kTaintPidPressure, "NoSchedule"},
    Tolerated{keys::kTaintUnschedulable, "NoSchedule"},
};

void add_toleration(JsonArray& list, const Tolerated& wanted) {
  const bool present = std::ranges::any_of(list, [&](const Json& one) {
    return text_at(one, {"key"}) == wanted.key && text_at(one, {"effect"}) == wanted.effect &&
           text_at(one, {"operator"}) == "Exists";
  });
  if (present) return;
  list.push_back(
      JsonObject{{"key", wanted.key}, {"operator", "Exists"}, {"effect", wanted.effect}});
}

}  // namespace

Json daemon_template(const DaemonSetView& set, const Json& pod_template) {
  Json out = pod_template;
  JsonArray tolerations;
  if (const JsonArray* given = array_at(out, {"spec", "tolerations"})) tolerations = *given;
  for (const Tolerated& wanted : kAlways) add_toleration(tolerations, wanted);
  if (bool_at(out, {"spec", "hostNetwork"}).value_or(false))
    add_toleration(tolerations, {keys::kTaintNetworkUnavailable, "NoSchedule"});
  set_path(out, {"spec", "tolerations"}, std::move(tolerations));
  return out;
}

void pin_to_node(Json& pod, std::string_view node) {
  JsonObject field{{"key", "metadata.name"}, {"operator", "In"}, {"values", JsonArray{Json(node)}}};
  JsonObject term{{"matchFields", JsonArray{std::move(field)}}};
  set_path(pod,
           {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"},
           JsonObject{{"nodeSelectorTerms", JsonArray{std::move(term)}}});
}

std::string node_of_daemon(const Json& pod) {
  if (std::string bound = text_at(pod, {"spec", "nodeName"}); !bound.empty()) return bound;
  const JsonArray* terms =
      array_at(pod, {"spec", "affinity", "nodeAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms == nullptr) return {};
  for (const Json& term : *terms) {
    const JsonArray* fields = array_at(term, {"matchFields"});
    if (fields == nullptr) continue;
    for (const Json& field : *fields) {
      const JsonArray* values = array_at(field, {"values"});
      if (text_at(field, {"key"}) == "metadata.name" && values != nullptr && values->size() == 1 &&
          (*values)[0].is_string())
        return std::string(view((*values)[0].get_string()));
    }
  }
  return {};
}

DaemonPlacement::DaemonPlacement(const Json& pod_template)
    : node_name_(text_at(pod_template, {"spec", "nodeName"})),
      selector_(string_map(find(pod_template, {"spec", "nodeSelector"}))),
      affinity_(NodeAffinity::from(find(pod_template, {"spec", "affinity", "nodeAffinity"}))),
      tolerations_(tolerations_from(array_at(pod_template, {"spec", "tolerations"}))) {}

DaemonPlacement::Verdict DaemonPlacement::judge(const NodeView& node) const {
  const Labels& labels = node->labels();
  const bool selected = std::ranges::all_of(selector_, [&](const auto& wanted) {
    const auto place = labels.find(wanted.first);
    return place != labels.end() && place->second == wanted.second;
  });
  if ((!node_name_.empty() && node_name_ != node->name()) || !selected ||
      !affinity_.allows(node->name(), labels))
    return {};
  Verdict out{true, true};
  for (const Taint& taint : node.taints()) {
    const bool tolerated = std::ranges::any_of(
        tolerations_, [&](const Toleration& one) { return one.tolerates(taint); });
    if (tolerated || taint.effect == "PreferNoSchedule") continue;
    out.run = false;
    if (taint.effect == "NoExecute") out.keep = false;
  }
  return out;
}

}  // namespace krater::controllers
