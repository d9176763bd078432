#include "controllers/gc/owner_graph.h"

#include <algorithm>

namespace krater::controllers {
namespace {

std::string group_kind(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  return std::string(group) + "/" + std::string(kind);
}

bool same_owners(const Object& a, const Object& b) {
  return std::ranges::equal(
      a.owners(), b.owners(), [](const OwnerReference& x, const OwnerReference& y) {
        return x.uid == y.uid && x.name == y.name && x.kind == y.kind &&
               x.api_version == y.api_version && x.block_owner_deletion == y.block_owner_deletion;
      });
}

// What the collector decides by, apart from the owners themselves.
bool same_deletion(const Object& a, const Object& b) {
  return a.deletion().has_value() == b.deletion().has_value() && a.finalizers() == b.finalizers();
}

}  // namespace

bool has_finalizer(const Object& object, std::string_view finalizer) {
  return std::ranges::count(object.finalizers(), finalizer) > 0;
}

bool waits_for_dependents(const Object& object) {
  return object.deletion() && has_finalizer(object, kForegroundFinalizer);
}

void KindTable::add(const Kind& kind) {
  kinds_[group_kind(kind.api_version(), kind.kind)] = kind;
}

void KindTable::remove(const Kind& kind) {
  kinds_.erase(group_kind(kind.api_version(), kind.kind));
}

const Kind* KindTable::find(std::string_view api_version, std::string_view kind) const {
  const auto place = kinds_.find(group_kind(api_version, kind));
  return place == kinds_.end() ? nullptr : &place->second;
}

std::vector<Kind> KindTable::all() const {
  std::vector<Kind> out;
  for (const auto& [name, kind] : kinds_) out.push_back(kind);
  return out;
}

std::vector<ObjectKey> OwnerGraph::observe(const ObjectPtr& before, const ObjectPtr& after) {
  std::vector<ObjectKey> out;
  const bool replaced = before && after && before->uid() != after->uid();
  const bool owners_changed = !before || !after || replaced || !same_owners(*before, *after);
  if (owners_changed) {
    if (before) {
      for (const OwnerReference& owner : before->owners()) {
        const auto place = dependents_.find(owner.uid);
        if (place == dependents_.end()) continue;
        place->second.erase(before->key());
        if (place->second.empty()) dependents_.erase(place);
      }
      add_owners_of(*before, out);  // one dependent less to wait for
    }
    if (after) {
      for (const OwnerReference& owner : after->owners())
        dependents_[owner.uid].insert(after->key());
      add_owners_of(*after, out);
      if (!after->owners().empty()) out.push_back(after->key());
    }
  }
  if (before && (!after || replaced)) {
    const std::set<ObjectKey>& left = dependents_of(before->uid());
    out.insert(out.end(), left.begin(), left.end());
  }
  if (after && after->deletion() && (!before || replaced || !same_deletion(*before, *after))) {
    out.push_back(after->key());
    add_owners_of(*after, out);
    const std::set<ObjectKey>& held = dependents_of(after->uid());
    if (waits_for_dependents(*after)) out.insert(out.end(), held.begin(), held.end());
  }
  return out;
}

const std::set<ObjectKey>& OwnerGraph::dependents_of(const Uid& owner) const {
  static const std::set<ObjectKey> none;
  const auto place = dependents_.find(owner);
  return place == dependents_.end() ? none : place->second;
}

void OwnerGraph::add_owners_of(const Object& object, std::vector<ObjectKey>& out) const {
  for (const OwnerReference& owner : object.owners()) {
    const Kind* kind = kinds_.find(owner.api_version, owner.kind);
    if (kind != nullptr) out.push_back(ObjectKey::of(*kind, object.name_space(), owner.name));
  }
}

}  // namespace krater::controllers
