#include "controllers/gc/gc_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controllers/gc/absentees.h"
#include "controllers/gc/decide.h"
#include "controllers/gc/owner_graph.h"

namespace krater::controllers {
namespace {

class Collector final : public GarbageCollector {
 public:
  explicit Collector(GcDeps deps)
      : wake_(deps.wake), graph_(kinds_), absentees_(deps.client, std::move(deps.wake)) {
    for (const Kind& kind : deps.kinds) kinds_.add(kind);
  }

  std::string_view name() const override { return "garbage-collector-controller"; }

  std::vector<Interest> interests() const override {
    std::vector<Interest> out;
    for (const Kind& kind : kinds_.all()) out.push_back(interest(kind));
    return out;
  }

  Interest add_kind(const Kind& kind) override {
    kinds_.add(kind);
    for (const ObjectKey& key : std::exchange(unserved_, {})) wake_(key);
    return interest(kind);
  }

  void remove_kind(const Kind& kind) override { kinds_.remove(kind); }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    const ObjectPtr object = cache.get(key);
    if (object == nullptr) return {};
    const Kind* kind = kinds_.find(object->api_version(), object->kind());
    if (kind == nullptr) return {};
    GcObserved seen{*kind, object, {}, {}};
    bool open = false;
    for (const OwnerReference& owner : object->owners()) {
      seen.owners.push_back({owner, state_of(owner, *kind, *object, cache)});
      open = open || seen.owners.back().state == OwnerState::Unknown;
      if (seen.owners.back().state == OwnerState::Unserved) unserved_.insert(key);
    }
    // Every dependent that comes wakes its owner, and there may be thousands of them.
    const bool matters =
        object->deletion() || std::ranges::any_of(seen.owners, [](const OwnerFact& owner) {
          return owner.state == OwnerState::Waiting;
        });
    static const std::set<ObjectKey> none;
    for (const ObjectKey& dependent : matters ? graph_.dependents_of(object->uid()) : none) {
      const ObjectPtr found = cache.get(dependent);
      const Kind* its =
          found == nullptr ? nullptr : kinds_.find(found->api_version(), found->kind());
      if (its != nullptr) seen.dependents.push_back({*its, found});
    }
    Plan plan = decide(seen);
    // The answer wakes this key; this is for the answer that does not come.
    if (open && plan.outcome.what == Outcome::What::Done)
      plan.outcome = Outcome::requeue_after(10s);
    return plan;
  }

 private:
  Interest interest(const Kind& kind) const {
    return {kind, [this](const ObjectPtr& before, const ObjectPtr& after) {
              if (before && (!after || before->uid() != after->uid()))
                absentees_.mark(before->uid());
              return graph_.observe(before, after);
            }};
  }

  OwnerState state_of(const OwnerReference& owner, const Kind& kind, const Object& object,
                      const client::Cache& cache) const {
    const Kind* owner_kind = kinds_.find(owner.api_version, owner.kind);
    if (owner_kind == nullptr) return OwnerState::Unserved;
    if (!kind.namespaced && owner_kind->namespaced) return OwnerState::Forbidden;
    const ObjectPtr found = cache.get(*owner_kind, object.name_space(), owner.name);
    if (found != nullptr && found->uid() == owner.uid) {
      return waits_for_dependents(*found) ? OwnerState::Waiting : OwnerState::Present;
    }
    if (absentees_.knows(owner.uid)) return OwnerState::Gone;
    if (absentees_.take_present(owner.uid)) return OwnerState::Present;  // the cache is late
    const std::string name_space = owner_kind->namespaced ? object.name_space() : "";
    absentees_.ask(*owner_kind, name_space, owner.name, owner.uid, object.key());
    return OwnerState::Unknown;
  }

  Enqueue wake_;
  KindTable kinds_;
  std::set<ObjectKey> unserved_;  // look again when a kind comes up
  // An index of what the cache shows and a memory of what is gone; both are rebuilt after a
  // restart.
  mutable OwnerGraph graph_;
  mutable Absentees absentees_;
};

}  // namespace

std::unique_ptr<GarbageCollector> make_gc_controller(GcDeps deps) {
  return std::make_unique<Collector>(std::move(deps));
}

}  // namespace krater::controllers
