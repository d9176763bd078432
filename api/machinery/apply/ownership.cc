#include "api/machinery/apply/ownership.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "api/machinery/apply/compare.h"
#include "api/machinery/apply/conflicts.h"
#include "api/machinery/apply/last_applied.h"
#include "api/machinery/apply/merge.h"
#include "api/machinery/apply/plain_keys.h"
#include "api/machinery/prune.h"

namespace krater::api {
namespace {

FieldSet path_set(std::initializer_list<std::initializer_list<const char*>> paths) {
  FieldSet out;
  for (const auto& path : paths) {
    FieldSet tail;
    bool last = true;
    for (auto step = std::rbegin(path); step != std::rend(path); ++step) {
      FieldSet one;
      one.add("f:" + std::string(*step), last, std::move(tail));
      tail = std::move(one);
      last = false;
    }
    out = unite(out, tail);
  }
  return out;
}

// What nobody owns because the server decides it.
const FieldSet& server_fields() {
  static const FieldSet set = path_set({{"apiVersion"},
                                        {"kind"},
                                        {"metadata"},
                                        {"metadata", "name"},
                                        {"metadata", "namespace"},
                                        {"metadata", "creationTimestamp"},
                                        {"metadata", "selfLink"},
                                        {"metadata", "uid"},
                                        {"metadata", "generation"},
                                        {"metadata", "managedFields"},
                                        {"metadata", "resourceVersion"}});
  return set;
}

const FieldSet& status_field() {
  static const FieldSet set = path_set({{"status"}});
  return set;
}

// What a writer has a say in: of the whole object, not the status.
FieldSet written(const OwnedKind& kind, const FieldWriter& writer, FieldSet fields) {
  const bool all = !kind.has_status || !writer.subresource.empty();
  return all ? fields : subtract_whole(fields, status_field());
}

FieldSet ownable(const OwnedKind& kind, const FieldWriter& writer, const FieldSet& fields) {
  return written(kind, writer, subtract(fields, server_fields()));
}

Comparison ownable_changes(const OwnedKind& kind, const FieldWriter& writer, const Json& before,
                           const Json& after) {
  Comparison out = compare_fields(kind.root, before, after);
  if (out.empty()) return out;
  out.added = ownable(kind, writer, out.added);
  out.modified = ownable(kind, writer, out.modified);
  out.removed = ownable(kind, writer, out.removed);
  return out;
}

FieldManager entry_of(const OwnedKind& kind, const FieldWriter& writer, bool applied) {
  FieldManager out;
  out.name = writer.manager;
  out.applied = applied;
  out.api_version = kind.api_version;
  out.subresource = writer.subresource;
  out.time = to_rfc3339(writer.now);
  return out;
}

FieldManager* find_same(FieldManagers& managers, const FieldManager& entry) {
  for (FieldManager& manager : managers) {
    if (manager.is_same(entry)) return &manager;
  }
  return nullptr;
}

void drop_empty(FieldManagers& managers) {
  std::erase_if(managers, [](const FieldManager& manager) { return manager.fields.empty(); });
}

// Fields the applier no longer names go, unless somebody else (or he himself, below) owns them.
// Follows upstream's three steps: take out all he had; put back what anybody still owns; put back
// what he had not owned but lost with its parent. `named`: all that he names now, also what nobody
// can own; without the name among it, metadata would go with the last label in it.
Json pruned(const SchemaNode& root, const Json& merged, const FieldSet& had,
            const FieldManagers& managers, FieldSet named) {
  if (had.empty()) return merged;
  const FieldSet had_named = with_named_fields(had, &root);
  const auto named_fields_of = [&](const Json& value) {
    return with_named_fields(fields_of(root, value), &root);
  };
  const auto object_or_empty = [](Json value) {
    return value.is_null() ? Json(JsonObject()) : std::move(value);
  };
  const FieldSet all = named_fields_of(merged);
  FieldSet owned = std::move(named);
  for (const FieldManager& manager : managers) owned = unite(owned, manager.fields.get());

  const Json bare = object_or_empty(without_fields(&root, merged, had_named));
  const FieldSet wanted = unite(named_fields_of(bare), with_named_fields(owned, &root));
  const Json with_owned = object_or_empty(without_fields(&root, merged, subtract(all, wanted)));
  const FieldSet lost = subtract(all, named_fields_of(with_owned));
  return object_or_empty(without_fields(&root, merged, intersect(lost, had_named)));
}

void take_from(FieldManagers& managers, const FieldManager& taker, const Comparison& changes) {
  const FieldSet taken = unite(changes.modified, changes.added);
  for (FieldManager& manager : managers) {
    if (manager.is_same(taker)) continue;
    if (!manager.fields.holds_any(taken) && !manager.fields.holds_any(changes.removed)) continue;
    manager.fields = subtract(subtract(manager.fields.get(), taken), changes.removed);
  }
}

// What an apply changes. A zero or null that is not stored is no change where the object says the
// same without it, also deep inside of what is owned as a whole.
Comparison changes_of_apply(const OwnedKind& kind, const FieldWriter& writer, const Json& live,
                            const Json& object) {
  Comparison out = ownable_changes(kind, writer, live, object);
  if (out.added.empty() && out.modified.empty()) return out;
  Json written = object;
  std::vector<FieldProblem> unknown;
  prune_object(kind.root, kind.native, written, unknown);
  const Comparison stored = compare_fields(kind.root, live, written);
  out.added = ownable(kind, writer, stored.added);
  out.modified = intersect(out.modified, unite(stored.modified, stored.removed));
  return out;
}

Result<Applied> apply_once(const OwnedKind& kind, const Json& live, const Json& config,
                           const FieldWriter& writer, FieldManagers managers,
                           std::vector<Conflict>& conflicts) {
  FieldManager entry = entry_of(kind, writer, true);
  FieldSet named = written(kind, writer, fields_of(kind.root, config));
  entry.fields = subtract(named, server_fields());
  FieldSet had;
  if (FieldManager* previous = find_same(managers, entry)) {
    had = previous->fields.get();
    if (previous->fields == entry.fields && previous->api_version == entry.api_version)
      entry.time = previous->time;
    *previous = entry;
  } else {
    managers.push_back(entry);
  }
  Json object = pruned(kind.root, merge_configuration(kind.root, live, config), had, managers,
                       std::move(named));
  const Comparison changes = changes_of_apply(kind, writer, live, object);
  const FieldSet touched = unite(changes.modified, changes.added);
  for (const FieldManager& manager : managers) {
    if (manager.is_same(entry)) continue;
    FieldSet disputed = intersect(manager.fields.get(), touched);
    if (!disputed.empty()) conflicts.push_back({manager, std::move(disputed)});
  }
  take_from(managers, entry, changes);
  if (!changes.empty()) find_same(managers, entry)->time = to_rfc3339(writer.now);
  drop_empty(managers);
  return Applied{std::move(object), std::move(managers)};
}

}  // namespace

OwnedKind owned_kind(const KindSchema& schema) {
  return {schema.root(), schema.kind().api_version(), schema.built_in(),
          schema.subresources().status};
}

bool record_update(const OwnedKind& kind, const Json* before, const Json& after,
                   const FieldWriter& writer, FieldManagers& managers) {
  const Json nothing = before == nullptr ? empty_object(kind.root, kind.native) : Json();
  const Comparison changes =
      ownable_changes(kind, writer, before == nullptr ? nothing : *before, after);
  if (changes.empty()) return false;
  FieldManager entry = entry_of(kind, writer, false);
  entry.fields = unite(changes.modified, changes.added);
  take_from(managers, entry, changes);
  if (FieldManager* own = find_same(managers, entry)) {
    if (own->fields.holds_any(changes.removed))
      own->fields = subtract(own->fields.get(), changes.removed);
    if (!own->fields.holds_all(entry.fields.get()))
      own->fields = unite(own->fields.get(), entry.fields.get());
    if (!entry.fields.empty()) own->time = entry.time;
  } else if (!entry.fields.empty()) {
    managers.push_back(std::move(entry));
  }
  drop_empty(managers);
  cap_updaters(managers);
  return true;
}

void adopt_untracked(const OwnedKind& kind, const Json& live, WallTime now,
                     FieldManagers& managers) {
  if (!managers.empty()) return;
  record_update(kind, nullptr, live, {"before-first-apply", "", now}, managers);
}

Result<Applied> apply_configuration(const OwnedKind& kind, const Json& live, const Json& config,
                                    const FieldWriter& writer, bool force, FieldManagers managers) {
  Json plain;
  if (kind.native) drop_zero_keys(kind.root, plain = config);
  std::vector<Conflict> conflicts;
  TRY_ASSIGN(Applied applied, apply_once(kind, live, kind.native ? plain : config, writer,
                                         std::move(managers), conflicts));
  const bool is_kubectl = writer.manager == "kubectl";
  if (!force && is_kubectl && !conflicts.empty())
    forgive(conflicts, applied_by_client(kind.root, live));
  if (!force && !conflicts.empty()) return conflict_error(std::move(conflicts));
  if (is_kubectl) renew_last_applied(applied.object, config);
  return applied;
}

}  // namespace krater::api
