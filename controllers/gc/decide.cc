#include "controllers/gc/decide.h"

#include <algorithm>
#include <set>

#include "controllers/gc/owner_graph.h"

namespace krater::controllers {
namespace {

// metadata.<list> replaced, if the object is still as it was seen.
PlannedWrite replace_list(const Kind& kind, const Object& object, std::string_view list,
                          JsonArray left) {
  Json patch(boost::json::object_kind);
  set_path(patch, {"metadata", list}, left.empty() ? Json(nullptr) : Json(std::move(left)));
  client::PatchWrite write{kind, object.name_space(), object.name(), client::PatchType::Merge,
                           std::move(patch)};
  write.only_if = object.revision();
  return {std::move(write), Code::NotFound, {}, {}};
}

PlannedWrite drop_owners(const Kind& kind, const Object& object, const std::set<Uid>& dropped) {
  const auto document = object.document();
  JsonArray left;
  if (const JsonArray* owners = array_at(*document, {"metadata", "ownerReferences"})) {
    for (const Json& owner : *owners) {
      if (!dropped.contains(Uid(text_at(owner, {"uid"})))) left.push_back(owner);
    }
  }
  return replace_list(kind, object, "ownerReferences", std::move(left));
}

PlannedWrite stop_blocking(const Kind& kind, const Object& object) {
  JsonArray owners = *array_at(*object.document(), {"metadata", "ownerReferences"});
  for (Json& owner : owners) owner.get_object()["blockOwnerDeletion"] = false;
  return replace_list(kind, object, "ownerReferences", std::move(owners));
}

PlannedWrite drop_finalizer(const Kind& kind, const Object& object, std::string_view finalizer) {
  JsonArray left;
  for (const std::string& other : object.finalizers()) {
    if (other != finalizer) left.emplace_back(other);
  }
  return replace_list(kind, object, "finalizers", std::move(left));
}

PlannedWrite remove(const Kind& kind, const Object& object, client::Propagation how) {
  client::DeleteWrite write{kind, object.name_space(), object.name(), how};
  write.only_uid = object.uid();
  write.only_if = object.revision();  // its owners may have changed
  return {std::move(write), Code::NotFound, {}, {}};
}

client::Propagation standing_policy(const Object& object) {
  if (has_finalizer(object, kOrphanFinalizer)) return client::Propagation::Orphan;
  if (has_finalizer(object, kForegroundFinalizer)) return client::Propagation::Foreground;
  return client::Propagation::Background;
}

bool blocks(const Object& dependent, const Uid& owner) {
  return std::ranges::any_of(dependent.owners(), [&](const OwnerReference& reference) {
    return reference.uid == owner && reference.block_owner_deletion;
  });
}

Plan foreground(const GcObserved& seen) {
  Plan plan;
  const bool held = std::ranges::any_of(seen.dependents, [&](const auto& dependent) {
    return blocks(*dependent.object, seen.object->uid());
  });
  if (!held) plan.then(drop_finalizer(seen.kind, *seen.object, kForegroundFinalizer));
  return plan;
}

Plan orphan(const GcObserved& seen) {
  Plan plan;
  std::vector<PlannedWrite> freed;
  for (const auto& [kind, dependent] : seen.dependents) {
    freed.push_back(drop_owners(kind, *dependent, {seen.object->uid()}));
  }
  plan.steps.push_back(std::move(freed));
  plan.then(drop_finalizer(seen.kind, *seen.object, kOrphanFinalizer));
  return plan;
}

void tell_forbidden(const GcObserved& seen, Plan& plan) {
  for (const OwnerFact& owner : seen.owners) {
    if (owner.state != OwnerState::Forbidden) continue;
    const OwnerReference& to = owner.reference;
    plan.events.push_back({EventNote::Type::Warning, "OwnerRefInvalidNamespace",
                           "ownerRef [" + to.api_version + "/" + to.kind +
                               ", namespace: , name: " + to.name + ", uid: " + to.uid.text() +
                               "] does not exist in namespace \"\""});
  }
}

}  // namespace

Plan decide(const GcObserved& seen) {
  const Object& object = *seen.object;
  if (object.deletion()) {
    if (has_finalizer(object, kOrphanFinalizer)) return orphan(seen);
    if (has_finalizer(object, kForegroundFinalizer)) return foreground(seen);
    return {};
  }
  Plan plan;
  tell_forbidden(seen, plan);
  std::set<Uid> droppable;
  std::size_t present = 0, waiting = 0, open = 0;
  for (const OwnerFact& owner : seen.owners) {
    switch (owner.state) {
      case OwnerState::Present:
        ++present;
        break;
      case OwnerState::Waiting:
        ++waiting;
        droppable.insert(owner.reference.uid);
        break;
      case OwnerState::Gone:
        droppable.insert(owner.reference.uid);
        break;
      case OwnerState::Unknown:
      case OwnerState::Unserved:
      case OwnerState::Forbidden:
        ++open;
        break;
    }
  }
  if (droppable.empty() || open > 0) return plan;
  if (present > 0) return std::move(plan.then(drop_owners(seen.kind, object, droppable)));
  if (waiting > 0 && !seen.dependents.empty()) {
    // A ring of objects that all wait for each other would wait for ever: this one lets its owners
    // go first.
    const bool ring = std::ranges::any_of(seen.dependents, [](const auto& dependent) {
      return waits_for_dependents(*dependent.object);
    });
    if (ring)
      return std::move(plan.then(stop_blocking(seen.kind, object))
                           .then(
                               // Not guarded by the revision: the step before has moved it.
                               {client::DeleteWrite{seen.kind, object.name_space(), object.name(),
                                                    client::Propagation::Foreground, object.uid()},
                                Code::NotFound,
                                {},
                                {}}));
    return std::move(plan.then(remove(seen.kind, object, client::Propagation::Foreground)));
  }
  return std::move(plan.then(remove(seen.kind, object, standing_policy(object))));
}

}  // namespace krater::controllers
