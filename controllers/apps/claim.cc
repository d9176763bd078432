#include "controllers/apps/claim.h"

#include <algorithm>

#include "model/workload.h"

namespace krater::controllers {
namespace {

PlannedWrite write_owners(const Kind& kind, const Object& object, JsonArray owners) {
  Json patch(boost::json::object_kind);
  set_path(patch, {"metadata", "ownerReferences"},
           owners.empty() ? Json(nullptr) : Json(std::move(owners)));
  client::PatchWrite write{kind, object.name_space(), object.name(), client::PatchType::Merge,
                           std::move(patch)};
  write.only_if = object.revision();  // the list is written whole
  return {std::move(write), Code::NotFound, {}, {}};
}

JsonArray owners_in(const Object& object) {
  const std::shared_ptr<const Json> document = object.document();
  const JsonArray* present = array_at(*document, {"metadata", "ownerReferences"});
  return present == nullptr ? JsonArray() : *present;
}

PlannedWrite adopt(const Object& owner, const Kind& kind, const Object& object) {
  JsonArray owners = owners_in(object);
  owners.push_back(controller_reference(owner));
  return write_owners(kind, object, std::move(owners));
}

PlannedWrite release(const Object& owner, const Kind& kind, const Object& object) {
  JsonArray left;
  for (const Json& reference : owners_in(object)) {
    if (text_at(reference, {"uid"}) != owner.uid().text()) left.push_back(reference);
  }
  return write_owners(kind, object, std::move(left));
}

}  // namespace

std::vector<PlannedWrite> claim(const Object& owner, const LabelSelector& selector,
                                const Kind& kind, const std::vector<ObjectPtr>& objects) {
  std::vector<PlannedWrite> out;
  if (owner.deletion()) return out;
  for (const ObjectPtr& object : objects) {
    const OwnerReference* controller = object->controller();
    const bool matches = selector.matches(object->labels());
    if (controller == nullptr) {
      if (matches && !object->deletion()) out.push_back(adopt(owner, kind, *object));
    } else if (controller->uid == owner.uid() && !matches) {
      out.push_back(release(owner, kind, *object));
    }
  }
  return out;
}

void SelectorIndex::see(const ObjectPtr& before, const ObjectPtr& after) {
  const Object& owner = after ? *after : *before;
  const std::optional<LabelSelector> selector =
      after ? WorkloadView(after).selector() : std::nullopt;
  auto& of_space = selectors_[owner.name_space()];
  if (selector) {
    of_space[owner.name()] = *selector;
  } else {
    of_space.erase(owner.name());
  }
  if (of_space.empty()) selectors_.erase(owner.name_space());
}

void SelectorIndex::add(const Object& object, std::vector<ObjectKey>& out) const {
  const auto wake = [&](std::string_view name) {
    ObjectKey key = ObjectKey::of(owner_, object.name_space(), name);
    if (std::ranges::find(out, key) == out.end()) out.push_back(std::move(key));
  };
  if (const OwnerReference* controller = object.controller()) {
    if (controller->kind == owner_.kind && controller->api_version == owner_.api_version())
      wake(controller->name);
    return;
  }
  const auto of_space = selectors_.find(object.name_space());
  if (of_space == selectors_.end()) return;
  for (const auto& [name, selector] : of_space->second) {
    if (selector.matches(object.labels())) wake(name);
  }
}

std::vector<ObjectKey> SelectorIndex::owners_of(const ObjectPtr& before,
                                                const ObjectPtr& after) const {
  std::vector<ObjectKey> out;
  for (const ObjectPtr& object : {before, after}) {
    if (object != nullptr) add(*object, out);
  }
  return out;
}

}  // namespace krater::controllers
