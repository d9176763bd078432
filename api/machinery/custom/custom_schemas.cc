#include "api/machinery/custom/custom_schemas.h"

#include <algorithm>
#include <utility>

#include "api/machinery/custom/openapi.h"
#include "base/check.h"

namespace krater::api {
namespace {

using KindPtr = std::shared_ptr<const CustomKind>;

std::string key_of(std::string_view a, std::string_view b) {
  return std::string(a).append(1, ' ').append(b);
}

std::string api_version_of(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group).append("/").append(version);
}

}  // namespace

struct CustomSchemas::Made {
  Uid uid;
  std::int64_t generation = 0;
  DefinitionNames names;
  bool deleting = false;
  std::shared_ptr<KindLife> life;
  std::vector<std::shared_ptr<const CompiledVersion>> compiled;
  Revision since;
  std::vector<KindPtr> kinds;  // served versions
  KindPtr storage;             // served or not

  // Being marked for deletion counts as a generation, and changes nothing of this.
  bool same_shape(const Definition& definition) const {
    const bool marked = definition.deleting && !deleting;
    return uid == definition.uid && names == definition.accepted &&
           (generation == definition.generation ||
            (marked && generation + 1 == definition.generation));
  }
};

struct CustomSchemas::State {
  std::vector<KindSchemaPtr> all;  // built-in ones first
  std::vector<KindPtr> custom;
  std::map<std::string, KindSchemaPtr, std::less<>> by_plural;  // "group/version plural"
  std::map<std::string, KindSchemaPtr, std::less<>> by_kind;    // "group/version Kind"
  std::map<std::string, KindSchemaPtr, std::less<>> by_resource;
};

CustomSchemas::CustomSchemas(std::unique_ptr<const SchemaSet> built_in)
    : built_in_(std::move(built_in)) {
  CHECK(!built_in_->all().empty());
  whole_ = std::make_shared<const WholeObject>(built_in_->all().front());
  publish({}, Revision());
}

CustomSchemas::~CustomSchemas() = default;

std::shared_ptr<const CustomSchemas::State> CustomSchemas::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool CustomSchemas::is_built_in(std::string_view group, std::string_view plural) const {
  const std::vector<KindSchemaPtr> all = built_in_->all();
  return std::any_of(all.begin(), all.end(), [&](const KindSchemaPtr& schema) {
    return schema->kind().group == group && schema->kind().plural == plural;
  });
}

std::shared_ptr<const CustomSchemas::Made> CustomSchemas::make(const Definition& definition,
                                                               Revision at) const {
  const auto known = made_.find(definition.name);
  const bool same = known != made_.end() && known->second->same_shape(definition);
  if (same && known->second->deleting == definition.deleting) return known->second;

  auto made = std::make_shared<Made>();
  made->uid = definition.uid;
  made->generation = definition.generation;
  made->names = definition.accepted;
  made->deleting = definition.deleting;
  made->life = same ? known->second->life : std::make_shared<KindLife>();
  made->since = same ? known->second->since : at;
  if (same) made->compiled = known->second->compiled;
  const DefinitionVersion* storage = definition.storage();
  CHECK_MSG(storage != nullptr, definition.name);
  bool represented = definition.serves(*storage);
  for (std::size_t i = 0; i < definition.versions.size(); ++i) {
    const DefinitionVersion& version = definition.versions[i];
    if (!same) made->compiled.push_back(std::make_shared<const CompiledVersion>(version, *whole_));
    CustomKindParts parts;
    parts.compiled = made->compiled[i];
    parts.whole = whole_;
    parts.life = made->life;
    parts.kind = {definition.group, version.name, definition.accepted.kind,
                  definition.accepted.plural, definition.namespaced};
    parts.names = definition.accepted;
    parts.definition = definition.name;
    parts.storage_api_version = api_version_of(definition.group, storage->name);
    parts.since = made->since;
    parts.terminating = definition.deleting;
    parts.representative = version.storage;
    const bool served = definition.serves(version);
    if (!represented && served) represented = parts.representative = true;
    const auto kind = std::make_shared<const CustomKind>(std::move(parts));
    if (served) made->kinds.push_back(kind);
    if (version.storage) made->storage = kind;
  }
  return made;
}

void CustomSchemas::publish(const std::vector<Definition>& definitions, Revision at) {
  std::map<std::string, std::shared_ptr<const Made>> made;
  auto state = std::make_shared<State>();
  state->all = built_in_->all();
  for (const Definition& definition : definitions) {
    if (is_built_in(definition.group, definition.names.plural)) continue;
    std::shared_ptr<const Made> one = make(definition, at);
    for (const KindPtr& kind : one->kinds) {
      state->all.push_back(kind);
      state->custom.push_back(kind);
      const std::string api_version = kind->kind().api_version();
      state->by_plural.emplace(key_of(api_version, kind->kind().plural), kind);
      state->by_kind.emplace(key_of(api_version, kind->kind().kind), kind);
    }
    state->by_resource.emplace(one->storage->kind().resource(), one->storage);
    made.emplace(definition.name, std::move(one));
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }
  std::swap(made_, made);
  for (const auto& [name, old] : made) {
    const auto now = made_.find(name);
    if (now == made_.end() || now->second->life != old->life) old->life->end();
  }
}

KindSchemaPtr CustomSchemas::find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  if (KindSchemaPtr schema = built_in_->find(group, version, plural)) return schema;
  const std::shared_ptr<const State> now = state();
  const auto found = now->by_plural.find(key_of(api_version_of(group, version), plural));
  return found == now->by_plural.end() ? nullptr : found->second;
}

KindSchemaPtr CustomSchemas::find_kind(std::string_view api_version, std::string_view kind) const {
  if (KindSchemaPtr schema = built_in_->find_kind(api_version, kind)) return schema;
  const std::shared_ptr<const State> now = state();
  const auto found = now->by_kind.find(key_of(api_version, kind));
  return found == now->by_kind.end() ? nullptr : found->second;
}

KindSchemaPtr CustomSchemas::find_resource(std::string_view resource) const {
  if (KindSchemaPtr schema = built_in_->find_resource(resource)) return schema;
  const std::shared_ptr<const State> now = state();
  const auto found = now->by_resource.find(resource);
  return found == now->by_resource.end() ? nullptr : found->second;
}

std::vector<KindSchemaPtr> CustomSchemas::all() const {
  return state()->all;
}

Result<Json> CustomSchemas::decode_protobuf_message(std::string_view message_name,
                                                    std::string_view body) const {
  return built_in_->decode_protobuf_message(message_name, body);
}

std::vector<std::string> CustomSchemas::openapi_v3_paths() const {
  std::vector<std::string> paths = built_in_->openapi_v3_paths();
  for (const KindPtr& kind : state()->custom) {
    std::string path = "apis/" + kind->kind().api_version();
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(std::move(path));
  }
  return paths;
}

std::optional<std::string> CustomSchemas::openapi_v3(std::string_view path) const {
  const std::shared_ptr<const State> now = state();
  std::vector<KindPtr> here;
  for (const KindPtr& kind : now->custom) {
    if ("apis/" + kind->kind().api_version() == path) here.push_back(kind);
  }
  std::optional<std::string> document = built_in_->openapi_v3(path);
  if (here.empty()) return document;
  return with_custom_kinds(3, document, here);
}

std::string CustomSchemas::openapi_v2() const {
  const std::shared_ptr<const State> now = state();
  std::string document = built_in_->openapi_v2();
  if (now->custom.empty()) return document;
  return with_custom_kinds(2, document, now->custom);
}

std::unique_ptr<CustomSchemas> make_schemas() {
  return std::make_unique<CustomSchemas>(make_builtin_schemas());
}

}  // namespace krater::api
