#include "client/cache.h"

#include <utility>

#include "base/check.h"

namespace krater::client {

void Cache::add(WatchQuery query) {
  Table& table = tables_[query.kind.resource()];
  CHECK(table.subscription == nullptr);
  subscribe(table, std::move(query));
}

void Cache::follow(const Kind& kind) {
  Table& table = tables_[kind.resource()];
  CHECK(table.subscription != nullptr);
  table.subscription.reset();
  subscribe(table, {kind});
}

void Cache::subscribe(Table& table, WatchQuery query) {
  WatchHandlers handlers;
  handlers.on_replace = [this, &table](std::vector<ObjectPtr> all, Revision at) {
    replace(table, std::move(all), at);
  };
  handlers.on_upsert = [this, &table](ObjectPtr object) {
    const Revision at = object->revision();
    upsert(table, std::move(object));
    advance(table, at);
  };
  handlers.on_remove = [this, &table](ObjectPtr object) {
    remove(table, {object->name_space(), object->name()}, object);
    advance(table, object->revision());
  };
  handlers.on_progress = [this, &table](Revision at) { advance(table, at); };
  table.subscription = client_.watch(std::move(query), std::move(handlers));
}

void Cache::drop(std::string_view resource) {
  const auto found = tables_.find(resource);
  if (found == tables_.end()) return;
  Table& table = found->second;
  table.subscription.reset();
  while (!table.objects.empty()) remove(table, Place(table.objects.begin()->first));
  const auto awaited = std::exchange(table.awaited, {});
  tables_.erase(found);
  for (const auto& [revision, ready] : awaited) ready();
  announce_if_synced();
}

void Cache::on_change(const Kind& kind, Handler handler) {
  tables_[kind.resource()].handlers.push_back(std::move(handler));
}

bool Cache::synced() const {
  for (const auto& [resource, table] : tables_) {
    if (table.subscription != nullptr && !table.listed) return false;
  }
  return true;
}

void Cache::when_synced(std::function<void()> ready) {
  waiting_.push_back(std::move(ready));
  announce_if_synced();
}

void Cache::announce_if_synced() {
  if (waiting_.empty() || !synced()) return;
  for (auto& ready : std::exchange(waiting_, {})) ready();
}

const Cache::Table* Cache::table_of(const Kind& kind) const {
  const auto place = tables_.find(kind.resource());
  return place == tables_.end() ? nullptr : &place->second;
}

ObjectPtr Cache::get(const Kind& kind, std::string_view name_space, std::string_view name) const {
  return get(ObjectKey::of(kind, name_space, name));
}

ObjectPtr Cache::get(const ObjectKey& key) const {
  const auto table = tables_.find(key.resource);
  if (table == tables_.end()) return nullptr;
  const auto place = table->second.objects.find(Place(key.name_space, key.name));
  return place == table->second.objects.end() ? nullptr : place->second;
}

std::vector<ObjectPtr> Cache::list(const Kind& kind, std::string_view name_space) const {
  std::vector<ObjectPtr> out;
  const Table* table = table_of(kind);
  if (table == nullptr) return out;
  auto at = name_space.empty() ? table->objects.begin()
                               : table->objects.lower_bound(Place(std::string(name_space), ""));
  for (; at != table->objects.end() && (name_space.empty() || at->first.first == name_space); ++at)
    out.push_back(at->second);
  return out;
}

std::vector<ObjectPtr> Cache::controlled_by(const Kind& kind, const Uid& owner) const {
  std::vector<ObjectPtr> out;
  const Table* table = table_of(kind);
  if (table == nullptr) return out;
  const auto owned = table->by_controller.find(owner);
  if (owned == table->by_controller.end()) return out;
  for (const Place& place : owned->second) out.push_back(table->objects.at(place));
  return out;
}

std::size_t Cache::count(const Kind& kind) const {
  const Table* table = table_of(kind);
  return table == nullptr ? 0 : table->objects.size();
}

Revision Cache::seen(const Kind& kind) const {
  const Table* table = table_of(kind);
  return table == nullptr ? Revision() : table->seen;
}

Revision Cache::seen(std::string_view resource) const {
  const auto place = tables_.find(resource);
  return place == tables_.end() ? Revision() : place->second.seen;
}

bool Cache::watches(std::string_view resource) const {
  const auto place = tables_.find(resource);
  return place != tables_.end() && place->second.subscription != nullptr;
}

void Cache::when_seen(std::string_view resource, Revision revision, std::function<void()> ready) {
  const auto place = tables_.find(resource);
  CHECK(place != tables_.end());
  if (place->second.seen >= revision) return ready();
  place->second.awaited.emplace(revision, std::move(ready));
}

// After the objects and their handlers, so that who waits finds everything up to `at` here.
void Cache::advance(Table& table, Revision at) {
  table.seen = std::max(table.seen, at);
  while (!table.awaited.empty() && table.awaited.begin()->first <= table.seen) {
    const auto ready = std::move(table.awaited.begin()->second);
    table.awaited.erase(table.awaited.begin());
    ready();
  }
}

void Cache::replace(Table& table, std::vector<ObjectPtr> all, Revision at) {
  std::set<Place> gone;
  for (const auto& [place, object] : table.objects) gone.insert(place);
  for (ObjectPtr& object : all) {
    gone.erase({object->name_space(), object->name()});
    upsert(table, std::move(object));
  }
  for (const Place& place : gone) remove(table, place);
  table.listed = true;
  advance(table, at);
  announce_if_synced();
}

void Cache::upsert(Table& table, ObjectPtr object) {
  ObjectPtr& slot = table.objects[{object->name_space(), object->name()}];
  if (slot != nullptr && slot->revision() >= object->revision()) return;
  const ObjectPtr before = slot;
  if (before != nullptr) index(table, *before, false);
  slot = object;
  index(table, *object, true);
  for (const Handler& handler : table.handlers) handler(before, object);
}

void Cache::remove(Table& table, const Place& place, ObjectPtr last) {
  const auto found = table.objects.find(place);
  if (found == table.objects.end()) return;
  ObjectPtr before = found->second;
  index(table, *before, false);
  table.objects.erase(found);
  // What was changed and removed at once is told of as it was in the end.
  if (last != nullptr && last->uid() == before->uid()) before = std::move(last);
  for (const Handler& handler : table.handlers) handler(before, nullptr);
}

void Cache::index(Table& table, const Object& object, bool present) {
  const OwnerReference* controller = object.controller();
  if (controller == nullptr) return;
  const Place place(object.name_space(), object.name());
  if (present) {
    table.by_controller[controller->uid].insert(place);
    return;
  }
  const auto owned = table.by_controller.find(controller->uid);
  owned->second.erase(place);
  if (owned->second.empty()) table.by_controller.erase(owned);
}

}  // namespace krater::client
