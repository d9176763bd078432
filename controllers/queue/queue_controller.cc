#include "controllers/queue/queue_controller.h"

#include <map>

#include "controllers/queue/step.h"
#include "model/keys.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

ObjectKey key_of_queue(std::string_view name) {
  return ObjectKey::of(kinds::kQueue, "", name);
}

// The queue that an order is for; "" when it is for something else.
std::string queue_ordered(const Object& command) {
  const auto document = command.document();
  if (text_at(*document, {"target", "kind"}) != kinds::kQueue.kind) return {};
  return text_at(*document, {"target", "name"});
}

class QueueController final : public Reconciler {
 public:
  explicit QueueController(std::string default_queue) : default_queue_(std::move(default_queue)) {}

  std::string_view name() const override { return "queue-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kQueue, [this](const ObjectPtr& before,
                                   const ObjectPtr& after) { return on_queue(before, after); }},
            {kinds::kPodGroup, [this](const ObjectPtr& before,
                                      const ObjectPtr& after) { return on_group(before, after); }},
            {kinds::kCommand, [](const ObjectPtr&, const ObjectPtr& after) {
               const std::string queue = after == nullptr ? "" : queue_ordered(*after);
               return queue.empty() ? std::vector<ObjectKey>()
                                    : std::vector<ObjectKey>{key_of_queue(queue)};
             }}};
  }

  std::vector<ObjectKey> first_keys() const override {
    return {key_of_queue(keys::kRootQueue), key_of_queue(default_queue_)};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    const ObjectPtr object = cache.get(key);
    const ObjectPtr order = first_order(key, cache);
    if (object == nullptr) {
      if (order != nullptr) return discard(*order);
      Plan plan;
      if (key.name == keys::kRootQueue || key.name == default_queue_) {
        plan.then({client::CreateWrite{kinds::kQueue, "", initial_queue(key.name)},
                   Code::AlreadyExists,
                   {},
                   {}});
      }
      return plan;
    }
    const QueueView queue(object);
    const auto groups = groups_.find(key.name);
    const QueueObserved seen{
        queue, QueueView(cache.get(key_of_queue(queue.parent().text()))),
        groups == groups_.end() ? std::map<PodGroupPhase, std::int64_t>() : groups->second};
    if (order != nullptr && !object->deletion()) {
      Plan plan = obey(seen, *order);
      plan.outcome = Outcome::requeue_after(Duration(1ms));  // there may be more
      return plan;
    }
    return step(seen);
  }

 private:
  // Commands live in any namespace.
  static ObjectPtr first_order(const ObjectKey& key, const client::Cache& cache) {
    ObjectPtr out;
    if (cache.count(kinds::kCommand) == 0) return out;
    for (const ObjectPtr& command : cache.list(kinds::kCommand)) {
      if (command->deletion() || queue_ordered(*command) != key.name) continue;
      if (out == nullptr || command->revision() < out->revision()) out = command;
    }
    return out;
  }

  // A queue wakes its children too: their state follows it.
  std::vector<ObjectKey> on_queue(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectKey& key = (after ? after : before)->key();
    if (before) children_[QueueView(before).parent().text()].erase(key);
    if (after) children_[QueueView(after).parent().text()].insert(key);
    std::vector<ObjectKey> out{key};
    const bool same_state =
        before && after && QueueView(before).state() == QueueView(after).state();
    if (!same_state) {
      const std::set<ObjectKey>& children = children_[key.name];
      out.insert(out.end(), children.begin(), children.end());
    }
    return out;
  }

  std::vector<ObjectKey> on_group(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    for (const auto& [group, by] : {std::pair(before, -1), std::pair(after, 1)}) {
      if (group == nullptr) continue;
      const PodGroupView view(group);
      auto& counts = groups_[view.queue().text()];
      if ((counts[view.phase()] += by) == 0) counts.erase(view.phase());
      out.push_back(key_of_queue(view.queue().text()));
    }
    return out;
  }

  const std::string default_queue_;
  // Indexes of what the cache shows. Counts outlive their queue: one made again knows what runs in
  // it.
  mutable std::map<std::string, std::map<PodGroupPhase, std::int64_t>> groups_;
  mutable std::map<std::string, std::set<ObjectKey>> children_;
};

}  // namespace

std::unique_ptr<Reconciler> make_queue_controller(std::string default_queue) {
  return std::make_unique<QueueController>(std::move(default_queue));
}

}  // namespace krater::controllers
