#include "testing/fake_client.h"

#include "base/check.h"

namespace krater::testing {

using client::BindWrite;
using client::CreateWrite;
using client::DeleteWrite;
using client::PatchWrite;
using client::UpdateWrite;

void merge_patch(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  JsonObject& object = target.get_object();
  for (const auto& member : patch.get_object()) {
    if (member.value().is_null()) {
      if (const auto place = object.find(member.key()); place != object.end())
        object.stable_erase(place);
    } else {
      merge_patch(object[member.key()], member.value());
    }
  }
}

void FakeClient::get(const Kind& kind, const std::string& name_space, const std::string& name,
                     client::Callback<ObjectPtr> done) {
  const ObjectPtr found = read(kind, name_space, name);
  const ObjectKey key = ObjectKey::of(kind, name_space, name);
  if (const auto failure = fail_get ? fail_get(key) : std::nullopt) {
    loop_.post([failure, done = std::move(done)] { done(*failure); });
    return;
  }
  loop_.post([found, name, done = std::move(done)] {
    if (found) return done(found);
    done(make_error(Code::NotFound, "\"" + name + "\" not found"));
  });
}

void FakeClient::write(client::Write write, client::Callback<ObjectPtr> done) {
  writes.push_back(write);
  const std::optional<Error> failure = fail ? fail(write) : std::nullopt;
  Result<ObjectPtr> result = failure ? Result<ObjectPtr>(*failure) : apply(write);
  loop_.post([result = std::move(result), done = std::move(done)] { done(result); });
}

void FakeClient::transact(std::vector<client::Write> batch,
                          client::Callback<std::vector<ObjectPtr>> done) {
  const auto saved = objects_;
  const std::int64_t saved_revision = revision_;
  holding_ = true;  // nobody hears of what may be undone
  Result<std::vector<ObjectPtr>> out = std::vector<ObjectPtr>();
  for (std::size_t i = 0; i < batch.size() && out; ++i) {
    writes.push_back(batch[i]);
    const std::optional<Error> failure = fail ? fail(batch[i]) : std::nullopt;
    Result<ObjectPtr> one = failure ? Result<ObjectPtr>(*failure) : apply(batch[i]);
    if (one) {
      out->push_back(*one);
    } else {
      objects_ = saved;
      revision_ = saved_revision;
      held_.clear();
      one.error().causes.insert(one.error().causes.begin(),
                                Cause{"", one.error().message, "[" + std::to_string(i) + "]"});
      out = one.error();
    }
  }
  holding_ = false;
  for (const auto& [key, object, removed] : std::exchange(held_, {})) tell(key, object, removed);
  loop_.post([out = std::move(out), done = std::move(done)] { done(out); });
}

struct FakeClient::Handle final : client::Subscription {
  Handle(FakeClient& owner, std::shared_ptr<Watcher> mine)
      : client(owner), watcher(std::move(mine)) {}
  ~Handle() override {
    watcher->handlers = {};
    client.watchers_.remove(watcher);
  }
  FakeClient& client;
  std::shared_ptr<Watcher> watcher;
};

std::unique_ptr<client::Subscription> FakeClient::watch(client::WatchQuery query,
                                                        client::WatchHandlers handlers) {
  auto watcher = std::make_shared<Watcher>(Watcher{std::move(query), std::move(handlers)});
  std::vector<ObjectPtr> now;
  for (const ObjectPtr& object : all(watcher->query.kind)) {
    if (watcher->query.name_space.empty() || watcher->query.name_space == object->name_space())
      now.push_back(object);
  }
  loop_.post([watcher, now = std::move(now), at = Revision(revision_)] {
    if (watcher->handlers.on_replace) watcher->handlers.on_replace(now, at);
  });
  watchers_.push_back(watcher);
  return std::make_unique<Handle>(*this, watcher);
}

ObjectPtr FakeClient::put(const Kind& kind, Json object) {
  const std::string name_space = text_at(object, {"metadata", "namespace"});
  const std::string name = text_at(object, {"metadata", "name"});
  const bool exists = objects_.contains(ObjectKey::of(kind, name_space, name));
  Result<ObjectPtr> stored = exists
                                 ? store(ObjectKey::of(kind, name_space, name), std::move(object))
                                 : create({kind, name_space, std::move(object)});
  CHECK_MSG(stored.has_value(), stored.error().message);
  return *stored;
}

ObjectPtr FakeClient::read(const Kind& kind, const std::string& name_space,
                           const std::string& name) const {
  const auto place = objects_.find(ObjectKey::of(kind, name_space, name));
  return place == objects_.end() ? nullptr : place->second;
}

std::vector<ObjectPtr> FakeClient::all(const Kind& kind) const {
  std::vector<ObjectPtr> out;
  for (const auto& [key, object] : objects_) {
    if (key.resource == kind.resource()) out.push_back(object);
  }
  return out;
}

Result<ObjectPtr> FakeClient::apply(const client::Write& write) {
  if (const auto* w = std::get_if<CreateWrite>(&write)) return create(*w);
  if (const auto* w = std::get_if<UpdateWrite>(&write)) return update(*w);
  if (const auto* w = std::get_if<PatchWrite>(&write)) return patch(*w);
  if (const auto* w = std::get_if<DeleteWrite>(&write)) return remove(*w);
  return bind(std::get<BindWrite>(write));
}

Result<ObjectPtr> FakeClient::create(const CreateWrite& write) {
  Json object = write.object;
  std::string name = text_at(object, {"metadata", "name"});
  if (name.empty())
    name = text_at(object, {"metadata", "generateName"}) + std::to_string(revision_ + 1);
  const ObjectKey key = ObjectKey::of(write.kind, write.name_space, name);
  if (objects_.contains(key)) {
    return make_error(Code::AlreadyExists, key.resource + " \"" + name + "\" already exists");
  }
  set_path(object, {"apiVersion"}, Json(write.kind.api_version()));
  set_path(object, {"kind"}, Json(write.kind.kind));
  set_path(object, {"metadata", "name"}, Json(name));
  if (write.kind.namespaced) set_path(object, {"metadata", "namespace"}, Json(write.name_space));
  set_path(object, {"metadata", "uid"}, Json("uid-" + std::to_string(revision_ + 1)));
  set_path(object, {"metadata", "creationTimestamp"}, Json(to_rfc3339(clock_.now())));
  set_path(object, {"metadata", "generation"}, Json(1));
  return store(key, std::move(object));
}

Result<ObjectPtr> FakeClient::update(const UpdateWrite& write) {
  const ObjectKey key = ObjectKey::of(write.kind, write.name_space, write.name);
  const auto place = objects_.find(key);
  if (place == objects_.end())
    return make_error(Code::NotFound, "\"" + write.name + "\" not found");
  const std::string wanted = text_at(write.object, {"metadata", "resourceVersion"});
  if (!wanted.empty() && wanted != place->second->revision().text()) {
    return make_error(Code::Conflict,
                      "the object has been modified; please apply your changes to the latest "
                      "version and try again");
  }
  Json next = *place->second->document();
  if (write.subresource == "status") {
    const Json* status = find(write.object, {"status"});
    set_path(next, {"status"}, status == nullptr ? Json(boost::json::object_kind) : *status);
    return store(key, std::move(next));
  }
  if (write.subresource == "finalize") {
    const Json* left = find(write.object, {"spec", "finalizers"});
    set_path(next, {"spec", "finalizers"}, left == nullptr ? Json(boost::json::array_kind) : *left);
    return store(key, std::move(next));
  }
  const Json* spec_before = find(next, {"spec"});
  const Json* spec_after = find(write.object, {"spec"});
  const bool spec_changed =
      spec_before != nullptr && spec_after != nullptr && *spec_before != *spec_after;
  Json object = write.object;
  set_path(object, {"metadata", "uid"}, Json(place->second->uid().text()));
  set_path(object, {"metadata", "generation"},
           Json(place->second->generation() + (spec_changed ? 1 : 0)));
  return store(key, std::move(object));
}

Result<ObjectPtr> FakeClient::patch(const PatchWrite& write) {
  const ObjectKey key = ObjectKey::of(write.kind, write.name_space, write.name);
  const auto place = objects_.find(key);
  if (place == objects_.end())
    return make_error(Code::NotFound, "\"" + write.name + "\" not found");
  if (write.only_if && *write.only_if != place->second->revision()) {
    return make_error(Code::Conflict, "the object has been modified");
  }
  Json next = *place->second->document();
  merge_patch(next, write.patch);
  erase_path(next, {"metadata", "resourceVersion"});
  return update({write.kind, write.name_space, write.name, std::move(next), write.subresource});
}

Result<ObjectPtr> FakeClient::remove(const DeleteWrite& write) {
  const ObjectKey key = ObjectKey::of(write.kind, write.name_space, write.name);
  const auto place = objects_.find(key);
  if (place == objects_.end()) {
    return make_error(Code::NotFound, "\"" + write.name + "\" not found");
  }
  if (write.only_uid && *write.only_uid != place->second->uid()) {
    return make_error(Code::Conflict, "the UID in the precondition does not match");
  }
  if (write.only_if && *write.only_if != place->second->revision()) {
    return make_error(Code::Conflict, "the object has been modified");
  }
  Json next = *place->second->document();
  JsonArray finalizers;
  for (const std::string& finalizer : place->second->finalizers()) {
    const bool policy = finalizer == "orphan" || finalizer == "foregroundDeletion";
    if (!policy || write.propagation == client::Propagation::Default)
      finalizers.emplace_back(finalizer);
  }
  if (write.propagation == client::Propagation::Orphan) finalizers.emplace_back("orphan");
  if (write.propagation == client::Propagation::Foreground)
    finalizers.emplace_back("foregroundDeletion");
  const JsonArray* held = array_at(next, {"spec", "finalizers"});
  const bool held_namespace = write.kind == kinds::kNamespace && held != nullptr && !held->empty();
  const bool stays = graceful && write.kind == kinds::kPod && write.grace_seconds != 0 &&
                     !text_at(next, {"spec", "nodeName"}).empty();
  if (finalizers.empty() && !held_namespace && !stays) return erase(key);
  if (!finalizers.empty()) set_path(next, {"metadata", "finalizers"}, std::move(finalizers));
  if (held_namespace) set_path(next, {"status", "phase"}, "Terminating");
  if (!place->second->deletion()) {
    set_path(next, {"metadata", "deletionTimestamp"}, Json(to_rfc3339(clock_.now())));
  } else if (next == *place->second->document()) {
    return place->second;
  }
  return store(key, std::move(next));
}

Result<ObjectPtr> FakeClient::bind(const BindWrite& write) {
  const ObjectKey key = ObjectKey::of(kinds::kPod, write.name_space, write.pod);
  const auto place = objects_.find(key);
  if (place == objects_.end())
    return make_error(Code::NotFound, "pods \"" + write.pod + "\" not found");
  if (!write.pod_uid.empty() && write.pod_uid != place->second->uid())
    return make_error(Code::Conflict, "the pod was replaced");
  Json next = *place->second->document();
  if (!text_at(next, {"spec", "nodeName"}).empty()) {
    return make_error(Code::Conflict, "pod " + write.pod + " is already assigned to node \"" +
                                          text_at(next, {"spec", "nodeName"}) + "\"");
  }
  set_path(next, {"spec", "nodeName"}, Json(write.node.text()));
  for (const auto& [name, value] : write.annotations)
    set_path(next, {"metadata", "annotations", name}, Json(value));
  return store(key, std::move(next));
}

Result<ObjectPtr> FakeClient::store(const ObjectKey& key, Json object) {
  const Revision revision(++revision_);
  set_path(object, {"metadata", "resourceVersion"}, Json(revision.text()));
  TRY_ASSIGN(ObjectPtr stored,
             Object::parse(key, revision, std::make_shared<const std::string>(to_json(object))));
  objects_[key] = stored;
  // The last finalizer is gone from an object that is being deleted: so is the object.
  // (Of namespaces, spec.finalizers too.)
  const auto document = stored->document();
  const JsonArray* held = array_at(*document, {"spec", "finalizers"});
  const bool held_namespace = stored->kind() == "Namespace" && held != nullptr && !held->empty();
  const bool held_pod =
      graceful && stored->kind() == "Pod" && !text_at(*document, {"spec", "nodeName"}).empty();
  if (stored->deletion() && stored->finalizers().empty() && !held_namespace && !held_pod)
    return erase(key);
  tell(key, stored, false);
  return stored;
}

ObjectPtr FakeClient::erase(const ObjectKey& key) {
  const auto place = objects_.find(key);
  Json last = *place->second->document();
  const Revision revision(++revision_);
  set_path(last, {"metadata", "resourceVersion"}, Json(revision.text()));
  Result<ObjectPtr> gone =
      Object::parse(key, revision, std::make_shared<const std::string>(to_json(last)));
  CHECK(gone.has_value());
  objects_.erase(place);
  tell(key, *gone, true);
  return *gone;
}

void FakeClient::tell(const ObjectKey& key, const ObjectPtr& object, bool removed) {
  if (holding_) return held_.push_back({key, object, removed});
  for (const std::shared_ptr<Watcher>& watcher : watchers_) {
    if (watcher->query.kind.resource() != key.resource) continue;
    if (!watcher->query.name_space.empty() && watcher->query.name_space != key.name_space) continue;
    loop_.post([watcher, object, removed] {
      const auto& handler = removed ? watcher->handlers.on_remove : watcher->handlers.on_upsert;
      if (handler) handler(object);
    });
  }
}

}  // namespace krater::testing
