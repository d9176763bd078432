// Volcano's queues, each for itself: amounts, state, annotations, what protects root and default.
// The names of the checks and their words are those of Volcano's queue webhook.
#include <algorithm>

#include "api/admission/rules.h"
#include "api/admission/volcano_queue_tree.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "model/keys.h"
#include "model/queue_overcommit.h"

namespace krater::api {
namespace {

constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";
constexpr std::string_view kWeights = "volcano.sh/hierarchy-weights";

std::string named(std::string_view list, const std::string& resource) {
  return std::string(list) + "[" + resource + "]";
}
std::string shown(std::string_view list, const std::string& resource, const Quantity& amount) {
  return named(list, resource) + "=" + amount.text();
}

// Everything that is wrong, as upstream lists it: one alone, several in brackets.
Result<void> refuse_all(const std::vector<std::string>& wrong) {
  if (wrong.empty()) return {};
  return wrong.size() == 1 ? refusal(wrong.front()) : refusal("[" + join(wrong, ", ") + "]");
}

std::string invalid(std::string_view field, const std::string& value, const std::string& why) {
  return "requestBody." + std::string(field) + ": Invalid value: \"" + value + "\": " + why;
}

void check_amounts(const Json& queue, std::vector<std::string>& wrong) {
  const QueueAmounts capability = queue_capability(queue), deserved = queue_deserved(queue),
                     guarantee = queue_guarantee(queue);
  for (const auto& [field, list] :
       {std::pair("capability", &capability), std::pair("deserved", &deserved),
        std::pair("guarantee.resource", &guarantee)}) {
    for (const auto& [resource, amount] : *list) {
      if (amount.sign() < 0) {
        wrong.push_back(invalid("spec." + std::string(field) + "." + resource, amount.text(),
                                "must be greater than or equal to 0"));
      }
    }
  }
  for (const auto& [resource, amount] : guarantee) {
    const auto place = deserved.find(resource);
    const bool there = place != deserved.end();
    if (there && place->second >= amount) continue;
    wrong.push_back(
        invalid("spec.deserved." + resource, there ? place->second.text() : "<nil>",
                (there ? shown("deserved", resource, place->second) : named("deserved", resource)) +
                    " must be >= " + shown("guarantee", resource, amount)));
  }
  for (const auto& [resource, amount] : deserved) {
    if (const auto place = capability.find(resource);
        place != capability.end() && place->second < amount) {
      wrong.push_back(invalid("spec.deserved." + resource, amount.text(),
                              shown("deserved", resource, amount) +
                                  " must be <= " + shown("capability", resource, place->second)));
    }
  }
}

// Volcano accepts no other state from outside; a queue that is being closed is changed by the
// controller's status only.
void check_state(const Json& queue, std::vector<std::string>& wrong) {
  const std::string state = text_at(queue, {"status", "state"});
  if (state.empty() || state == "Open" || state == "Closed") return;
  wrong.push_back(invalid("spec.state", state, "queue state must be in [Open Closed]"));
}

std::string wrong_annotation(const std::string& value, const std::string& why) {
  return invalid("metadata.annotations", value, why);
}

void check_hierarchy(std::string_view name, const Json& queue, const Queues& all,
                     std::vector<std::string>& wrong) {
  const std::string path = text_at(queue, {"metadata", "annotations", kHierarchy});
  const std::string weights = text_at(queue, {"metadata", "annotations", kWeights});
  if (path.empty() && weights.empty()) return;
  const auto steps = split(path, '/');
  const auto numbers = split(weights, '/');
  if (steps.size() != numbers.size()) {
    return wrong.push_back(wrong_annotation(
        path,
        std::string(kHierarchy) + " must have the same length with " + std::string(kWeights)));
  }
  for (const std::string_view number : numbers) {
    const Result<Quantity> weight = Quantity::parse(number);
    const std::string where = std::string(number) + " in the " + weights;
    if (!weight) return wrong.push_back(wrong_annotation(weights, where + " is invalid number"));
    if (weight->sign() <= 0)
      return wrong.push_back(wrong_annotation(weights, where + " must be larger than 0"));
  }
  for (const auto& [other, object] : all) {
    const std::string its_path(ObjectView(object).annotation(kHierarchy));
    if (other != name && its_path.starts_with(path + "/")) {
      return wrong.push_back(wrong_annotation(
          path,
          path + " is not allowed to be in the sub path of " + its_path + " of queue " + other));
    }
  }
}

// A factor is of what the queue deserves: where it deserves nothing it would limit nothing.
void check_overcommit(const Json& queue, std::vector<std::string>& wrong) {
  const auto text = string_at(queue, {"metadata", "annotations", keys::kOvercommitFactor});
  if (!text) return;
  if (!overcommit_per_mille(*text)) {
    return wrong.push_back(wrong_annotation(
        std::string(*text),
        std::string(keys::kOvercommitFactor) + " must be a decimal number of at least 1"));
  }
  const QueueAmounts deserved = queue_deserved(queue);
  if (std::none_of(deserved.begin(), deserved.end(),
                   [](const auto& entry) { return entry.second.sign() > 0; })) {
    wrong.push_back(wrong_annotation(
        std::string(*text),
        std::string(keys::kOvercommitFactor) + " needs a positive amount in spec.deserved"));
  }
}

bool same(const Json& a, const Json& b, JsonPath path) {
  const Json* left = find(a, path);
  const Json* right = find(b, path);
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

Result<void> check_root(const Admission& admission) {
  if (!admission.settings.protects_root_queue) return {};
  if (admission.name != keys::kRootQueue || admission.old == nullptr) return {};
  for (const std::string_view field : {"capability", "deserved", "guarantee"}) {
    if (!same(admission.object, *admission.old, {"spec", field})) {
      return refusal(
          "root queue's resource attributes (capability, deserved, guarantee) cannot be modified");
    }
  }
  return {};
}

Result<void> admit_deletion(const Admission& admission, const Queues& all) {
  for (const std::string_view name : {keys::kDefaultQueue, keys::kRootQueue,
                                      std::string_view(admission.settings.default_queue)}) {
    if (admission.name == name) return refusal("`" + admission.name + "` queue can not be deleted");
  }
  if (admission.settings.keeps_queues_with_pods) {
    if (const Quantity pods = allocated_pods(admission.object); pods.sign() > 0) {
      return refusal(
          "queue " + admission.name +
          " cannot be deleted because it has allocated Pods: " + std::to_string(pods.value()));
    }
  }
  const std::vector<ObjectPtr> children = queue_children(admission.name, all);
  if (children.empty()) return {};
  std::vector<std::string> names;
  for (const ObjectPtr& child : children) names.push_back(child->name());
  return refusal("queue " + admission.name + " can not be deleted because it has " +
                 std::to_string(names.size()) + " child queues: " + join(names, ", "));
}

Result<Queues> all_queues(const ObjectReader& reader) {
  TRY_ASSIGN(const std::vector<ObjectPtr> objects, reader.list(kinds::kQueue, ""));
  Queues out;
  for (const ObjectPtr& object : objects) out.emplace(object->name(), object);
  return out;
}

}  // namespace

Result<void> mutate_queue(Admission& admission) {
  if (admission.operation != Operation::Create) return {};
  Json& queue = admission.object;
  if (find(queue, {"spec", "reclaimable"}) == nullptr)
    set_path(queue, {"spec", "reclaimable"}, true);
  if (int_at(queue, {"spec", "weight"}).value_or(0) == 0) set_path(queue, {"spec", "weight"}, 1);
  const std::string path = text_at(queue, {"metadata", "annotations", kHierarchy});
  const std::string weights = text_at(queue, {"metadata", "annotations", kWeights});
  if (!path.empty() && !weights.empty() && !path.starts_with("root")) {
    set_path(queue, {"metadata", "annotations", kHierarchy}, Json("root/" + path));
    set_path(queue, {"metadata", "annotations", kWeights}, Json("1/" + weights));
  }
  return {};
}

Result<void> admit_queue(const Admission& admission) {
  // Volcano's webhook sees the main resource only.
  if (!admission.subresource.empty()) return {};
  TRY_ASSIGN(const Queues all, all_queues(admission.reader));
  if (admission.operation == Operation::Delete) return admit_deletion(admission, all);
  std::vector<std::string> wrong;
  check_amounts(admission.object, wrong);
  // Closing may be there, but nobody may ask for it; the rest of the queue can be changed
  // meanwhile.
  if (admission.old != nullptr && !same(admission.object, *admission.old, {"status", "state"}))
    check_state(admission.object, wrong);
  check_hierarchy(admission.name, admission.object, all, wrong);
  check_overcommit(admission.object, wrong);
  TRY(refuse_all(wrong));
  const bool moved =
      admission.old == nullptr || !same(admission.object, *admission.old, {"spec", "parent"});
  if (moved) TRY(check_queue_parent(admission, all));
  TRY(check_root(admission));
  bool resized = moved;
  for (const std::string_view field : {"capability", "deserved", "guarantee"}) {
    resized = resized || !same(admission.object, *admission.old, {"spec", field});
  }
  return resized ? check_queue_shares(admission, all) : Result<void>();
}

}  // namespace krater::api
