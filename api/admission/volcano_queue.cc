// Volcano's queues: their place in the tree and shares that cannot contradict each other. The names
// of the checks and their words are those of Volcano's queue webhook.
#include <map>
#include <set>

#include "api/admission/rules.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "model/keys.h"

namespace krater::api {
namespace {

constexpr int kMaxDepth = 5;
constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";
constexpr std::string_view kWeights = "volcano.sh/hierarchy-weights";

using Amounts = std::map<std::string, Quantity>;
using Queues = std::map<std::string, ObjectPtr>;

// Quantities that do not parse are the schema's to refuse.
Amounts amounts(const Json& queue, JsonPath path) {
  Amounts out;
  const JsonObject* entries = object_at(queue, path);
  if (entries == nullptr) return out;
  for (const auto& entry : *entries) {
    const Result<Quantity> amount =
        Quantity::parse(entry.value().is_string() ? std::string(view(entry.value().get_string()))
                                                  : to_json(entry.value()));
    if (amount) out.emplace(std::string(entry.key()), *amount);
  }
  return out;
}
Amounts capability(const Json& queue) {
  return amounts(queue, {"spec", "capability"});
}
Amounts deserved(const Json& queue) {
  return amounts(queue, {"spec", "deserved"});
}
Amounts guarantee(const Json& queue) {
  return amounts(queue, {"spec", "guarantee", "resource"});
}

bool is_root(std::string_view name) {
  return name == keys::kRootQueue;
}

std::string parent_of(std::string_view name, const Json& queue) {
  if (is_root(name)) return {};
  const std::string parent = text_at(queue, {"spec", "parent"});
  return parent.empty() ? std::string(keys::kRootQueue) : parent;
}

std::string shown(std::string_view what, const std::string& resource, const Quantity& amount) {
  return std::string(what) + "[" + resource + "]=" + amount.text();
}

Error refuse_queue(std::string_view name, const std::string& why) {
  return refusal("requestBody.spec: Invalid value: queue " + std::string(name) + ": " + why);
}

Result<void> check_amounts(std::string_view name, const Json& queue) {
  const Amounts cap = capability(queue), des = deserved(queue), guar = guarantee(queue);
  for (const auto& [what, list] : {std::pair("capability", &cap), std::pair("deserved", &des),
                                   std::pair("guarantee", &guar)}) {
    for (const auto& [resource, amount] : *list) {
      if (amount.sign() < 0)
        return refuse_queue(name,
                            shown(what, resource, amount) + " must be greater than or equal to 0");
    }
  }
  for (const auto& [resource, amount] : guar) {
    const auto place = des.find(resource);
    const Quantity have = place == des.end() ? Quantity() : place->second;
    if (place == des.end() || have < amount) {
      return refuse_queue(name, shown("deserved", resource, have) +
                                    " must be >= " + shown("guarantee", resource, amount));
    }
  }
  for (const auto& [resource, amount] : des) {
    if (const auto place = cap.find(resource); place != cap.end() && place->second < amount) {
      return refuse_queue(name, shown("deserved", resource, amount) +
                                    " must be <= " + shown("capability", resource, place->second));
    }
  }
  return {};
}

// Volcano accepts no other state from outside; a queue that is being closed is changed by the
// controller's status only.
Result<void> check_state(std::string_view name, const Json& queue) {
  const std::string state = text_at(queue, {"status", "state"});
  if (state.empty() || state == "Open" || state == "Closed") return {};
  return refuse_queue(name, "queue state must be in [Open Closed]");
}

Error refuse_annotation(const std::string& value, const std::string& why) {
  return refusal("requestBody.metadata.annotations: Invalid value: \"" + value + "\": " + why);
}

Result<void> check_hierarchy(std::string_view name, const Json& queue, const Queues& all) {
  const std::string path = text_at(queue, {"metadata", "annotations", kHierarchy});
  const std::string weights = text_at(queue, {"metadata", "annotations", kWeights});
  if (path.empty() && weights.empty()) return {};
  const auto steps = split(path, '/');
  const auto numbers = split(weights, '/');
  if (steps.size() != numbers.size()) {
    return refuse_annotation(
        path, std::string(kHierarchy) + " must have the same length with " + std::string(kWeights));
  }
  for (const std::string_view number : numbers) {
    const Result<Quantity> weight = Quantity::parse(number);
    const std::string where = std::string(number) + " in the " + weights;
    if (!weight) return refuse_annotation(weights, where + " is invalid number");
    if (weight->sign() <= 0) return refuse_annotation(weights, where + " must be larger than 0");
  }
  for (const auto& [other, object] : all) {
    const std::string its_path(ObjectView(object).annotation(kHierarchy));
    if (other != name && its_path.starts_with(path + "/")) {
      return refuse_annotation(path, path + " is not allowed to be in the sub path of " + its_path +
                                         " of queue " + other);
    }
  }
  return {};
}

std::vector<ObjectPtr> children_of(std::string_view name, const Queues& all) {
  std::vector<ObjectPtr> out;
  for (const auto& [other, object] : all) {
    if (other != name && parent_of(other, *object->document()) == name) out.push_back(object);
  }
  return out;
}

Result<void> check_parent(const Admission& admission, const Queues& all) {
  const std::string parent = parent_of(admission.name, admission.object);
  if (parent == admission.name)
    return refuse_queue(admission.name, "parent queue can not be itself");
  if (is_root(parent)) return {};  // made by the queue controller, perhaps a moment later
  if (!all.contains(parent))
    return refuse_queue(admission.name, "failed to get parent queue of " + admission.name +
                                            ": queue " + parent + " not found");
  int depth = 1;
  std::set<std::string> seen{admission.name};
  for (std::string at = parent; !at.empty() && !is_root(at);
       at = parent_of(at, *all.at(at)->document())) {
    if (!seen.insert(at).second)
      return refuse_queue(admission.name, "parents must not form a ring");
    if (++depth > kMaxDepth)
      return refuse_queue(admission.name,
                          "queue depth exceeds the limit of " + std::to_string(kMaxDepth));
    if (!all.contains(at)) break;
  }
  if (children_of(parent, all).empty()) {
    const Amounts allocated = amounts(*all.at(parent)->document(), {"status", "allocated"});
    if (const auto pods = allocated.find("pods");
        pods != allocated.end() && pods->second.sign() > 0) {
      return refuse_queue(
          admission.name,
          "parent queue " + parent + " has allocated pods, so it cannot have child queues");
    }
  }
  return {};
}

void add(Amounts& sum, const Amounts& more) {
  for (const auto& [resource, amount] : more) sum[resource] += amount;
}

Result<void> check_sum(std::string_view name, std::string_view what, const Amounts& sum,
                       const Amounts& limit) {
  for (const auto& [resource, amount] : sum) {
    const auto place = limit.find(resource);
    const Quantity bound = place == limit.end() ? Quantity() : place->second;
    if (amount > bound) {
      return refuse_queue(name, "the sum of the children's " + shown(what, resource, amount) +
                                    " must be <= the parent's " + shown(what, resource, bound));
    }
  }
  return {};
}

// Under a parent other than root the children share what the parent has.
Result<void> check_shares(std::string_view blamed, const Json& parent,
                          const std::vector<const Json*>& children) {
  Amounts sum_guarantee, sum_deserved;
  const Amounts bound = capability(parent);
  for (const Json* child : children) {
    add(sum_guarantee, guarantee(*child));
    add(sum_deserved, deserved(*child));
    for (const auto& [resource, amount] : capability(*child)) {
      if (const auto place = bound.find(resource); place != bound.end() && amount > place->second) {
        return refuse_queue(blamed, shown("capability", resource, amount) +
                                        " must be <= the parent's " +
                                        shown("capability", resource, place->second));
      }
    }
  }
  TRY(check_sum(blamed, "guarantee", sum_guarantee, guarantee(parent)));
  return check_sum(blamed, "deserved", sum_deserved, deserved(parent));
}

Result<void> check_tree(const Admission& admission, const Queues& all) {
  const std::string parent = parent_of(admission.name, admission.object);
  std::vector<std::shared_ptr<const Json>> alive;  // documents of the relatives
  const auto documents = [&](const std::vector<ObjectPtr>& objects) {
    std::vector<const Json*> out;
    for (const ObjectPtr& object : objects) {
      if (object->name() == admission.name) continue;
      alive.push_back(object->document());
      out.push_back(alive.back().get());
    }
    return out;
  };
  if (!parent.empty() && !is_root(parent) && all.contains(parent)) {
    std::vector<const Json*> siblings = documents(children_of(parent, all));
    siblings.push_back(&admission.object);
    TRY(check_shares(admission.name, *all.at(parent)->document(), siblings));
  }
  if (is_root(admission.name)) return {};
  const std::vector<const Json*> children = documents(children_of(admission.name, all));
  return children.empty() ? Result<void>()
                          : check_shares(admission.name, admission.object, children);
}

bool same(const Json& a, const Json& b, JsonPath path) {
  const Json* left = find(a, path);
  const Json* right = find(b, path);
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

Result<void> check_root(const Admission& admission) {
  if (!is_root(admission.name) || admission.old == nullptr) return {};
  for (const std::string_view field : {"capability", "deserved", "guarantee"}) {
    if (!same(admission.object, *admission.old, {"spec", field})) {
      return refuse_queue(admission.name,
                          "root queue's " + std::string(field) + " can not be changed");
    }
  }
  return {};
}

Result<void> admit_deletion(const Admission& admission, const Queues& all) {
  for (const std::string_view name : {keys::kDefaultQueue, keys::kRootQueue}) {
    if (admission.name == name) return refusal("`" + admission.name + "` queue can not be deleted");
  }
  const std::vector<ObjectPtr> children = children_of(admission.name, all);
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
  TRY(check_amounts(admission.name, admission.object));
  // Closing may be there, but nobody may ask for it; the rest of the queue can be changed
  // meanwhile.
  if (admission.old != nullptr && !same(admission.object, *admission.old, {"status", "state"}))
    TRY(check_state(admission.name, admission.object));
  TRY(check_hierarchy(admission.name, admission.object, all));
  TRY(check_root(admission));
  const bool moved =
      admission.old == nullptr || !same(admission.object, *admission.old, {"spec", "parent"});
  if (moved && !is_root(admission.name)) TRY(check_parent(admission, all));
  bool resized = moved;
  for (const std::string_view field : {"capability", "deserved", "guarantee"}) {
    resized = resized || !same(admission.object, *admission.old, {"spec", field});
  }
  return resized ? check_tree(admission, all) : Result<void>();
}

}  // namespace krater::api
