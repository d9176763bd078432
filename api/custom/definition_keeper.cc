#include "api/custom/definition_keeper.h"

#include <algorithm>
#include <tuple>

#include "base/log.h"
#include "model/definition_kinds.h"

namespace krater::api {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

bool holds_finalizer(const Object& object) {
  return std::count(object.finalizers().begin(), object.finalizers().end(), kCleanupFinalizer) > 0;
}

}  // namespace

Result<void> load_definitions(const Registry& registry, CustomSchemas& schemas) {
  TRY_ASSIGN(const ListResult listed, registry.list(kinds::kCustomResourceDefinition, {}));
  std::vector<Definition> served;
  for (const ObjectPtr& object : listed.items) {
    Definition definition = read_definition(*object);
    if (definition.established) served.push_back(std::move(definition));
  }
  schemas.publish(served, listed.revision);
  return {};
}

DefinitionKeeper::DefinitionKeeper(DefinitionKeeperDeps deps)
    : deps_(std::move(deps)), definitions_(deps_.client) {}

DefinitionKeeper::~DefinitionKeeper() {
  *alive_ = false;
}

void DefinitionKeeper::start() {
  const auto look = [this](const ObjectPtr&, const ObjectPtr&) { wake(); };
  definitions_.on_change(kinds::kCustomResourceDefinition, look);
  definitions_.add({kinds::kCustomResourceDefinition});
  definitions_.when_synced([this] { wake(); });
}

// Many changes, one pass.
void DefinitionKeeper::wake() {
  if (std::exchange(woken_, true)) return;
  deps_.loop.post([this, alive = alive_] {
    if (!*alive) return;
    woken_ = false;
    pass();
  });
}

void DefinitionKeeper::retry() {
  deps_.loop.after(kRetry, [this, alive = alive_] {
    if (*alive) wake();
  });
}

void DefinitionKeeper::pass() {
  if (!definitions_.synced()) return;
  std::vector<Known> all = read();
  judge(all);
  publish(all);
  for (Known& known : all) {
    known.ending = ending_of(known);
    write_status(known);
    const bool may_go = known.ending != Ending::Not && known.ending != Ending::Deleting;
    if (may_go && holds_finalizer(*known.object)) release(known);
  }
}

// In the order in which they came: who was first has the names.
std::vector<DefinitionKeeper::Known> DefinitionKeeper::read() {
  std::vector<Known> all;
  std::map<std::string, std::pair<Revision, Definition>> read;
  for (const ObjectPtr& object : definitions_.list(kinds::kCustomResourceDefinition)) {
    const auto before = read_.find(object->name());
    const bool same = before != read_.end() && before->second.first == object->revision();
    Definition definition = same ? before->second.second : read_definition(*object);
    read.emplace(object->name(), std::pair(object->revision(), definition));
    all.push_back({object, std::move(definition), {}});
  }
  read_ = std::move(read);
  std::stable_sort(all.begin(), all.end(), [](const Known& a, const Known& b) {
    return a.object->created() < b.object->created();
  });
  std::erase_if(leaving_, [&](const auto& entry) { return !read_.contains(entry.first); });
  std::erase_if(written_, [&](const auto& entry) { return !read_.contains(entry.first); });
  return all;
}

void DefinitionKeeper::judge(std::vector<Known>& all) const {
  for (Known& known : all) {
    const Definition& definition = known.definition;
    TakenNames taken;
    for (const Known& other : all) {
      if (&other != &known && other.definition.group == definition.group)
        taken.add(other.definition.accepted);
    }
    for (const KindSchemaPtr& schema : deps_.schemas.built_in().all()) {
      const Kind& kind = schema->kind();
      if (kind.group != definition.group || kind.plural == definition.names.plural) continue;
      taken.add({kind.plural,
                 schema->singular(),
                 kind.kind,
                 schema->list_kind(),
                 schema->short_names(),
                 {}});
    }
    known.acceptance = accept_names(definition, taken);
    known.definition.accepted = known.acceptance.names;
    known.served = definition.established || known.acceptance.accepted;
  }
}

void DefinitionKeeper::publish(const std::vector<Known>& all) {
  std::vector<Definition> served;
  for (const Known& known : all) {
    if (known.served) served.push_back(known.definition);
  }
  deps_.schemas.publish(served, deps_.registry.revision());
  if (deps_.published) deps_.published();
}

Ending DefinitionKeeper::ending_of(const Known& known) {
  const Definition& definition = known.definition;
  if (!definition.deleting) return Ending::Not;
  if (deps_.schemas.is_built_in(definition.group, definition.names.plural)) return Ending::BuiltIn;
  if (!definition.established) return Ending::NeverServed;
  return all_gone(definition) ? Ending::Gone : Ending::Deleting;
}

bool DefinitionKeeper::all_gone(const Definition& definition) {
  const std::vector<KindSchemaPtr> served = deps_.schemas.all();
  const auto schema = std::find_if(served.begin(), served.end(), [&](const KindSchemaPtr& one) {
    return one->kind().group == definition.group &&
           one->kind().plural == definition.accepted.plural;
  });
  if (schema == served.end()) return true;
  const Kind kind = (*schema)->kind();
  Leaving& leaving = leaving_[definition.name];
  if (leaving.objects == nullptr) {
    leaving.objects = std::make_unique<client::Cache>(deps_.client);
    const auto look = [this](const ObjectPtr&, const ObjectPtr&) { wake(); };
    leaving.objects->on_change(kind, look);
    leaving.objects->add({kind});
    leaving.objects->when_synced([this] { wake(); });
  }
  if (!leaving.objects->synced()) return false;
  delete_objects(definition.name, kind, leaving);
  if (leaving.objects->count(kind) > 0) return false;
  // The cache may lag behind a write that was under way.
  const Result<ListResult> left = deps_.registry.list(kind, {});
  return left.has_value() && left->items.empty();
}

void DefinitionKeeper::delete_objects(const std::string& name, const Kind& kind, Leaving& leaving) {
  for (const ObjectPtr& object : leaving.objects->list(kind)) {
    if (object->deletion() || !leaving.asked.insert(object->uid()).second) continue;
    client::DeleteWrite remove{kind, object->name_space(), object->name(),
                               client::Propagation::Background};
    remove.only_uid = object->uid();
    deps_.client.write(std::move(remove), [this, alive = alive_, name,
                                           uid = object->uid()](const Result<ObjectPtr>& done) {
      if (!*alive || done || done.error().code == Code::NotFound) return;
      log::warn("definition.delete_object",
                {{"definition", name}, {"error", done.error().message}});
      if (const auto left = leaving_.find(name); left != leaving_.end())
        left->second.asked.erase(uid);
      retry();
    });
  }
}

void DefinitionKeeper::write_status(const Known& known) {
  std::optional<Json> next =
      with_status(*known.object->document(), known.acceptance, known.ending, deps_.clock.now());
  if (!next) return;
  write(*known.object, client::UpdateWrite{kinds::kCustomResourceDefinition, "",
                                           known.object->name(), *std::move(next), "status"});
}

void DefinitionKeeper::release(const Known& known) {
  JsonArray kept;
  for (const std::string& finalizer : known.object->finalizers()) {
    if (finalizer != kCleanupFinalizer) kept.emplace_back(finalizer);
  }
  client::PatchWrite patch{kinds::kCustomResourceDefinition, "", known.object->name()};
  set_path(patch.patch, {"metadata", "finalizers"}, std::move(kept));
  patch.only_if = known.object->revision();
  write(*known.object, std::move(patch));
}

// One write at a time for what is known of an object; its event brings the next pass.
void DefinitionKeeper::write(const Object& object, client::Write write) {
  const std::string& name = object.name();
  Revision& under_way = written_[name];
  if (under_way == object.revision()) return;
  under_way = object.revision();
  deps_.client.write(std::move(write), [this, alive = alive_, name](const Result<ObjectPtr>& done) {
    if (!*alive || done) return;
    written_.erase(name);
    const Code code = done.error().code;
    if (code == Code::NotFound) return;
    if (code != Code::Conflict)
      log::warn("definition.write", {{"definition", name}, {"error", done.error().message}});
    retry();
  });
}

}  // namespace krater::api
