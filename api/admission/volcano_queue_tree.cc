#include "api/admission/volcano_queue_tree.h"

#include <algorithm>

#include "model/keys.h"

namespace krater::api {
namespace {

QueueAmounts amounts(const Json& queue, JsonPath path) {
  QueueAmounts out;
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

bool is_root(std::string_view name) {
  return name == keys::kRootQueue;
}

// "" of root.
std::string parent_of(std::string_view name, const Json& queue) {
  if (is_root(name)) return {};
  const std::string parent = text_at(queue, {"spec", "parent"});
  return parent.empty() ? std::string(keys::kRootQueue) : parent;
}

// The amount as upstream counts: cpu in milli, memory and pods whole, others in milli.
std::int64_t counted(const std::string& resource, const Quantity& amount) {
  return resource == "memory" || resource == "pods" ? amount.value() : amount.milli_value();
}
std::string with_cents(std::int64_t amount) {
  return std::to_string(amount) + ".00";
}

// One amount in upstream's words.
std::string text_of(const std::string& resource, const Quantity& amount) {
  if (resource == "cpu" || resource == "memory") return amount.text();
  return with_cents(counted(resource, amount));
}
std::string text_of(const QueueAmounts& amounts) {
  const auto one = [&](const std::string& resource) {
    const auto place = amounts.find(resource);
    return resource + " " +
           with_cents(place == amounts.end() ? 0 : counted(resource, place->second));
  };
  std::string out = one("cpu") + ", " + one("memory");
  for (const auto& [resource, amount] : amounts) {
    if (resource != "cpu" && resource != "memory") out += ", " + one(resource);
  }
  return out;
}

Error not_found(const std::string& queue) {
  return refusal("queue.scheduling.volcano.sh \"" + queue + "\" not found");
}

// `blamed` is how the message begins; the amounts of all children together are within the
// parent's.
Result<void> check_sum(const std::string& blamed, const std::string& what, const QueueAmounts& sum,
                       const QueueAmounts& limit) {
  for (const auto& [resource, amount] : sum) {
    const auto place = limit.find(resource);
    if (amount <= (place == limit.end() ? Quantity() : place->second)) continue;
    return refusal(blamed + " validation failed: sum of children's " + what + " (" + text_of(sum) +
                   ") exceeds parent's " + what + " limit (" + text_of(limit) + ")");
  }
  return {};
}

Result<void> check_sums(const std::string& blamed, const Json& parent,
                        const std::vector<const Json*>& children) {
  QueueAmounts guarantees, deserved;
  for (const Json* child : children) {
    for (const auto& [resource, amount] : queue_guarantee(*child)) guarantees[resource] += amount;
    for (const auto& [resource, amount] : queue_deserved(*child)) deserved[resource] += amount;
  }
  TRY(check_sum(blamed, "guarantee", guarantees, queue_guarantee(parent)));
  return check_sum(blamed, "deserved", deserved, queue_deserved(parent));
}

// Upwards from `parent`, root left out, as long as they are there.
std::vector<ObjectPtr> ancestors(const std::string& parent, const Queues& all) {
  std::vector<ObjectPtr> out;
  std::string at = parent;
  while (!at.empty() && !is_root(at) && out.size() < all.size()) {
    const auto place = all.find(at);
    if (place == all.end()) break;
    out.push_back(place->second);
    at = parent_of(at, *place->second->document());
  }
  return out;
}

Result<void> check_capability(const Admission& admission, const std::string& parent,
                              const Queues& all) {
  const std::vector<ObjectPtr> above = ancestors(parent, all);
  for (const auto& [resource, amount] : queue_capability(admission.object)) {
    for (const ObjectPtr& ancestor : above) {
      const QueueAmounts theirs = queue_capability(*ancestor->document());
      const auto limit = theirs.find(resource);
      if (limit == theirs.end() || limit->second.sign() <= 0) continue;
      if (amount <= limit->second) break;  // the nearest that says anything
      return refusal("queue " + admission.name + " capability[" + resource +
                     "]=" + text_of(resource, amount) +
                     " exceeds its ancestor's capability=" + text_of(resource, limit->second));
    }
  }
  return {};
}

// The largest capability of a resource in a queue and, where it sets none, below it.
Quantity largest_below(const ObjectPtr& queue, const std::string& resource, const Queues& all,
                       std::size_t depth) {
  const QueueAmounts own = queue_capability(*queue->document());
  if (const auto place = own.find(resource); place != own.end() && place->second.sign() > 0)
    return place->second;
  Quantity out;
  if (depth == 0) return out;
  for (const ObjectPtr& child : queue_children(queue->name(), all))
    out = std::max(out, largest_below(child, resource, all, depth - 1));
  return out;
}

Result<void> check_children(const Admission& admission, const std::vector<ObjectPtr>& children,
                            const Queues& all) {
  for (const auto& [resource, amount] : queue_capability(admission.object)) {
    Quantity largest;
    for (const ObjectPtr& child : children)
      largest = std::max(largest, largest_below(child, resource, all, all.size()));
    if (amount < largest) {
      return refusal(
          "queue " + admission.name + " capability[" + resource + "]=" + text_of(resource, amount) +
          " is smaller than its descendants' max capability=" + text_of(resource, largest));
    }
  }
  return {};
}

}  // namespace

QueueAmounts queue_capability(const Json& queue) {
  return amounts(queue, {"spec", "capability"});
}
QueueAmounts queue_deserved(const Json& queue) {
  return amounts(queue, {"spec", "deserved"});
}
QueueAmounts queue_guarantee(const Json& queue) {
  return amounts(queue, {"spec", "guarantee", "resource"});
}
Quantity allocated_pods(const Json& queue) {
  const QueueAmounts allocated = amounts(queue, {"status", "allocated"});
  const auto pods = allocated.find("pods");
  return pods == allocated.end() ? Quantity() : pods->second;
}

std::vector<ObjectPtr> queue_children(std::string_view name, const Queues& all) {
  std::vector<ObjectPtr> out;
  for (const auto& [other, object] : all) {
    if (other != name && parent_of(other, *object->document()) == name) out.push_back(object);
  }
  return out;
}

Result<void> check_queue_parent(const Admission& admission, const Queues& all) {
  const std::string& name = admission.name;
  const std::string parent = text_at(admission.object, {"spec", "parent"});
  if (parent.empty() || is_root(parent)) return {};  // root may come a moment later
  // Every queue is below root: whatever its parent, it would be below itself.
  if (parent == name || is_root(name))
    return refusal("queue " + name + " cannot use itself as parent");
  int depth = 1;
  for (std::string at = parent; !at.empty() && !is_root(at);) {
    if (++depth > admission.settings.max_queue_depth) {
      return refusal("queue " + name + " exceeds the maximum allowed depth of " +
                     std::to_string(admission.settings.max_queue_depth));
    }
    const auto place = all.find(at);
    if (place == all.end()) {
      return refusal("failed to get parent queue " + at + " of queue " + name + ": " +
                     not_found(at).message);
    }
    // Its own place in a ring is the new one.
    at = at == name ? parent : parent_of(at, *place->second->document());
  }
  if (queue_children(parent, all).empty()) {
    if (const Quantity pods = allocated_pods(*all.at(parent)->document()); pods.sign() > 0) {
      return refusal("queue " + parent + " cannot be the parent queue of queue " + name +
                     " because it has allocated Pods: " + std::to_string(pods.value()));
    }
  }
  return {};
}

Result<void> check_queue_shares(const Admission& admission, const Queues& all) {
  if (is_root(admission.name)) return {};
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
  const std::string parent = parent_of(admission.name, admission.object);
  if (const auto place = all.find(parent); !is_root(parent) && place != all.end()) {
    TRY(check_capability(admission, parent, all));
    std::vector<const Json*> siblings = documents(queue_children(parent, all));
    siblings.push_back(&admission.object);
    TRY(check_sums("parent queue " + parent, *place->second->document(), siblings));
  }
  const std::vector<ObjectPtr> children = queue_children(admission.name, all);
  if (children.empty()) return {};
  TRY(check_children(admission, children, all));
  return check_sums("queue " + admission.name, admission.object, documents(children));
}

}  // namespace krater::api
