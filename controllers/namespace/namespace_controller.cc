#include "controllers/namespace/namespace_controller.h"

#include <algorithm>
#include <map>
#include <set>

#include "controllers/namespace/content.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kFinalizer = "kubernetes";  // of spec.finalizers

ObjectKey key_of_namespace(std::string_view name) {
  return ObjectKey::of(kinds::kNamespace, "", name);
}

bool held_by_us(const Object& object) {
  const auto document = object.document();
  const JsonArray* finalizers = array_at(*document, {"spec", "finalizers"});
  return finalizers != nullptr && std::ranges::any_of(*finalizers, [](const Json& finalizer) {
           return finalizer.is_string() && view(finalizer.get_string()) == kFinalizer;
         });
}

PlannedWrite finalize(const Object& object) {
  Json next = *object.document();
  JsonArray left;
  for (const Json& finalizer : *array_at(next, {"spec", "finalizers"})) {
    if (!finalizer.is_string() || view(finalizer.get_string()) != kFinalizer)
      left.push_back(finalizer);
  }
  set_path(next, {"spec", "finalizers"}, std::move(left));
  return {client::UpdateWrite{kinds::kNamespace, "", object.name(), std::move(next), "finalize"},
          Code::NotFound,
          {},
          {}};
}

std::optional<PlannedWrite> write_conditions(const Object& object, const NamespaceContent& left,
                                             WallTime now) {
  const auto document = object.document();
  const std::vector<Condition> present = conditions_of(*document);
  const std::vector<Condition> wanted =
      merge_conditions(present, deletion_conditions(left, object.name()), now);
  if (wanted == present) return std::nullopt;
  Json next = *document;
  JsonArray list;
  for (const Condition& condition : wanted) list.push_back(to_json_value(condition));
  set_path(next, {"status", "phase"}, "Terminating");
  set_path(next, {"status", "conditions"}, std::move(list));
  return PlannedWrite{
      client::UpdateWrite{kinds::kNamespace, "", object.name(), std::move(next), "status"},
      Code::NotFound,
      {},
      {}};
}

class Terminator final : public NamespaceController {
 public:
  explicit Terminator(NamespaceDeps deps) : client_(deps.client), wake_(std::move(deps.wake)) {
    for (Kind& kind : deps.kinds) keep(std::move(kind));
  }
  ~Terminator() override { *alive_ = false; }

  std::string_view name() const override { return "namespace-controller"; }

  std::vector<Interest> interests() const override {
    std::vector<Interest> out{
        {kinds::kNamespace, [this](const ObjectPtr& before, const ObjectPtr& after) {
           const ObjectPtr& object = after ? after : before;
           if (!after) forget(object->name());
           if (after && after->deletion()) ending_.insert(after->name());
           return std::vector<ObjectKey>{object->key()};
         }}};
    for (const Kind& kind : kinds_) out.push_back(interest(kind));
    return out;
  }

  Interest add_kind(const Kind& kind) override {
    keep(kind);
    for (const std::string& name : ending_) wake_(key_of_namespace(name));
    return interest(kind);
  }

  void remove_kind(const Kind& kind) override {
    std::erase_if(kinds_, [&](const Kind& known) { return known.resource() == kind.resource(); });
    for (const std::string& name : ending_) wake_(key_of_namespace(name));
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || !object->deletion() || !held_by_us(*object)) return {};
    NamespaceContent content = gather(object->name(), cache);
    const bool pods_first = std::ranges::any_of(
        content.items, [](const auto& item) { return item.kind == kinds::kPod; });
    std::set<Uid>& tried = tried_[object->name()];
    std::vector<PlannedWrite> deletes;
    for (const auto& [kind, item] : content.items) {
      if (item->deletion() || (pods_first && kind != kinds::kPod)) continue;
      // Deleted before, and still there without a mark: the delete failed.
      if (!tried.insert(item->uid()).second)
        ++content.undeletable[kind.group + "/" + kind.version + ", Resource=" + kind.plural];
      client::DeleteWrite write{kind, item->name_space(), item->name(),
                                client::Propagation::Background};
      write.only_uid = item->uid();
      deletes.push_back({std::move(write), Code::NotFound, {}, {}});
    }
    Plan plan;
    // Between the first deletes and their effect there is nothing worth telling.
    if (deletes.empty() || !content.undeletable.empty()) {
      if (auto write = write_conditions(*object, content, now)) plan.then(std::move(*write));
    }
    plan.steps.push_back(std::move(deletes));
    if (!content.items.empty()) return plan;
    if (plan.steps.front().empty() && sweep_events(object->name(), plan))
      plan.then(finalize(*object));
    return plan;
  }

 private:
  void keep(Kind kind) {
    std::erase_if(kinds_, [&](const Kind& k) { return k.resource() == kind.resource(); });
    if (kind.namespaced && kind != kinds::kEvent) kinds_.push_back(std::move(kind));
  }

  Interest interest(const Kind& kind) const {
    return {kind, [this](const ObjectPtr& before, const ObjectPtr& after) {
              const std::string& name_space = (after ? after : before)->name_space();
              if (!ending_.contains(name_space)) return std::vector<ObjectKey>();
              return std::vector<ObjectKey>{key_of_namespace(name_space)};
            }};
  }

  NamespaceContent gather(const std::string& name, const client::Cache& cache) const {
    NamespaceContent out;
    for (const Kind& kind : kinds_) {
      for (ObjectPtr& object : cache.list(kind, name))
        out.items.push_back({kind, std::move(object)});
    }
    return out;
  }

  // The last content to go. True when there is none left.
  bool sweep_events(const std::string& name, Plan& plan) {
    auto& events = events_[name];
    if (events == nullptr) {
      events = std::make_unique<client::Cache>(client_);
      const auto wake = [this, alive = alive_, name] {
        if (*alive) wake_(key_of_namespace(name));
      };
      events->on_change(kinds::kEvent, [wake](const ObjectPtr&, const ObjectPtr&) { wake(); });
      events->add({kinds::kEvent, name});
      events->when_synced(wake);
    }
    if (!events->synced()) return false;
    std::vector<PlannedWrite> deletes;
    for (const ObjectPtr& event : events->list(kinds::kEvent)) {
      deletes.push_back(
          {client::DeleteWrite{kinds::kEvent, name, event->name()}, Code::NotFound, {}, {}});
    }
    const bool empty = deletes.empty();
    plan.steps.push_back(std::move(deletes));
    return empty;
  }

  void forget(const std::string& name) const {
    ending_.erase(name);
    tried_.erase(name);
    events_.erase(name);
  }

  client::ObjectClient& client_;
  Enqueue wake_;
  std::vector<Kind> kinds_;
  // Of namespaces that are being deleted; rebuilt after a restart.
  mutable std::set<std::string> ending_;
  mutable std::map<std::string, std::set<Uid>> tried_;
  mutable std::map<std::string, std::unique_ptr<client::Cache>> events_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<NamespaceController> make_namespace_controller(NamespaceDeps deps) {
  return std::make_unique<Terminator>(std::move(deps));
}

}  // namespace krater::controllers
