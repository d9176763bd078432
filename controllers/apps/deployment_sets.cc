#include "controllers/apps/deployment_sets.h"

#include <algorithm>
#include <array>

#include "base/name_suffix.h"
#include "base/strings.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;
constexpr int kHashLength = 10;

// A template without the label that tells its sets apart.
Json plain_template(const Json& pod_template) {
  Json out = pod_template;
  erase_path(out, {"metadata", "labels", keys::kPodTemplateHash});
  if (const JsonObject* labels = object_at(out, {"metadata", "labels"});
      labels != nullptr && labels->empty())
    erase_path(out, {"metadata", "labels"});
  return out;
}

std::string template_hash(const DeploymentView& deployment, std::int64_t collisions) {
  std::string text = to_json(with_sorted_keys(deployment.pod_template()));
  if (collisions > 0) text += "/" + std::to_string(collisions);
  return name_suffix(fnv1a(text), kHashLength);
}

bool handed_down(std::string_view annotation) {
  constexpr std::array kOwn{keys::kLastApplied, keys::kDeploymentRevision, keys::kRevisionHistory,
                            keys::kDesiredReplicas, keys::kMaxReplicas};
  return std::ranges::find(kOwn, annotation) == kOwn.end();
}

void note_size(const DeploymentView& deployment, Labels& annotations) {
  annotations[std::string(keys::kDesiredReplicas)] = std::to_string(deployment.replicas());
  annotations[std::string(keys::kMaxReplicas)] =
      std::to_string(deployment.replicas() + deployment.max_surge());
}

Labels handed_down_by(const DeploymentView& deployment) {
  Labels out;
  for (const auto& [key, value] : deployment.annotations()) {
    if (handed_down(key)) out[key] = value;
  }
  return out;
}

}  // namespace

std::int64_t SetPlan::revision() const {
  const auto place = annotations.find(keys::kDeploymentRevision);
  return place == annotations.end() ? 0 : parse_int(place->second).value_or(0);
}

void sort_by_age(std::vector<SetPlan>& sets) {
  std::ranges::sort(sets, [](const SetPlan& a, const SetPlan& b) {
    const auto made_a = a.set->created(), made_b = b.set->created();
    return made_a == made_b ? a.set->name() < b.set->name() : made_a < made_b;
  });
}

SetPlan* newest_of(const DeploymentView& deployment, std::vector<SetPlan>& sets) {
  const Json wanted = plain_template(deployment.pod_template());
  for (SetPlan& plan : sets) {
    if (plain_template(plan.set.pod_template()) == wanted) return &plan;
  }
  return nullptr;
}

std::string set_name(const DeploymentView& deployment, std::int64_t collisions) {
  return deployment->name() + "-" + template_hash(deployment, collisions);
}

Json new_set(const DeploymentView& deployment, const std::string& name, std::int64_t replicas,
             std::int64_t revision) {
  const std::string hash = name.substr(deployment->name().size() + 1);
  Json pod_template = deployment.pod_template();
  set_path(pod_template, {"metadata", "labels", keys::kPodTemplateHash}, Json(hash));
  Json selector = *deployment.selector_json();
  set_path(selector, {"matchLabels", keys::kPodTemplateHash}, Json(hash));
  Labels annotations = handed_down_by(deployment);
  annotations[std::string(keys::kDeploymentRevision)] = std::to_string(revision);
  note_size(deployment, annotations);

  Json out = new_object(kinds::kReplicaSet, deployment->name_space(), name);
  set_path(out, {"metadata", "labels"}, *find(pod_template, {"metadata", "labels"}));
  set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
  set_path(out, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*deployment.object())});
  set_path(out, {"spec", "replicas"}, replicas);
  if (deployment.min_ready_s() > 0)
    set_path(out, {"spec", "minReadySeconds"}, deployment.min_ready_s());
  set_path(out, {"spec", "selector"}, std::move(selector));
  set_path(out, {"spec", "template"}, std::move(pod_template));
  return out;
}

void annotate_newest(const DeploymentView& deployment, SetPlan& newest, std::int64_t revision) {
  for (const auto& [key, value] : handed_down_by(deployment)) newest.annotations[key] = value;
  const std::int64_t before = newest.revision();
  if (before >= revision) return;
  newest.annotations[std::string(keys::kDeploymentRevision)] = std::to_string(revision);
  if (before == 0) return;
  // Rolled back to: the revisions it stood for are remembered.
  std::string& history = newest.annotations[std::string(keys::kRevisionHistory)];
  const std::string old = std::to_string(before);
  const std::vector<std::string_view> known = split(history, ',');
  if (std::ranges::find(known, old) != known.end()) return;
  history += (history.empty() ? "" : ",") + old;
}

void scale_set(const DeploymentView& deployment, SetPlan& plan, std::int64_t replicas) {
  plan.replicas = replicas;
  note_size(deployment, plan.annotations);
}

PlannedWrite write_set(const DeploymentView& deployment, const SetPlan& plan) {
  Json patch(boost::json::object_kind);
  if (plan.replicas != plan.set.replicas()) set_path(patch, {"spec", "replicas"}, plan.replicas);
  set_path(patch, {"metadata", "annotations"}, to_json_object(plan.annotations));
  client::PatchWrite write{kinds::kReplicaSet, plan.set->name_space(), plan.set->name(),
                           client::PatchType::Merge, std::move(patch)};
  write.only_if = plan.set->revision();
  PlannedWrite out{std::move(write), {}, {}, {}};
  if (plan.replicas == plan.set.replicas()) return out;
  const bool up = plan.replicas > plan.set.replicas();
  out.on_done = EventNote{Type::Normal, "ScalingReplicaSet",
                          std::string("Scaled ") + (up ? "up" : "down") + " replica set " +
                              plan.set->name() + " from " + std::to_string(plan.set.replicas()) +
                              " to " + std::to_string(plan.replicas)};
  return out;
}

}  // namespace krater::controllers
