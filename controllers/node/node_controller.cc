#include "controllers/node/node_controller.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "controllers/node/eviction.h"
#include "controllers/node/health.h"
#include "controllers/node/pods_by_node.h"

namespace krater::controllers {
namespace {

ObjectKey key_of_node(std::string_view name) {
  return ObjectKey::of(kinds::kNode, "", name);
}

std::vector<TimedTaint> no_execute_taints(const NodeView& node) {
  std::vector<TimedTaint> out = node.timed_taints();
  std::erase_if(out, [](const TimedTaint& timed) { return timed.taint.effect != "NoExecute"; });
  return out;
}

class NodeController final : public Reconciler {
 public:
  std::string_view name() const override { return "node-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kNode, [this](const ObjectPtr& before,
                                  const ObjectPtr& after) { return on_node(before, after); }},
            {kinds::kLease, on_lease},
            {kinds::kPod, [this](const ObjectPtr& before, const ObjectPtr& after) {
               return on_pod(before, after);
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    if (key.resource == kinds::kPod.resource()) return check_pod(cache.get(key), now);
    const ObjectPtr node = cache.get(key);
    if (node == nullptr) return check_absent(key.name, cache, now);
    absent_since_.erase(key.name);
    return check_node(NodeView(node), cache, now);
  }

 private:
  // The last sign of life and when it was noticed; clocks of nodes are not trusted.
  struct Beat {
    Revision lease, node;
    std::string heartbeat;
    WallTime noticed;
  };

  static std::vector<ObjectKey> on_lease(const ObjectPtr& before, const ObjectPtr& after) {
    const Object& lease = after ? *after : *before;
    if (lease.name_space() != keys::kNodeLeaseNamespace) return {};
    return {key_of_node(lease.name())};
  }

  std::vector<ObjectKey> on_node(const ObjectPtr& before, const ObjectPtr& after) const {
    const std::string& name = (after ? after : before)->name();
    std::vector<ObjectKey> out{key_of_node(name)};
    if (after) {
      there_.insert(name);
    } else {
      there_.erase(name);
      beats_.erase(name);
    }
    std::vector<TimedTaint> taints =
        after ? no_execute_taints(NodeView(after)) : std::vector<TimedTaint>();
    if (taints.empty()) {
      no_execute_.erase(name);
      return out;
    }
    no_execute_[name] = std::move(taints);
    const std::set<ObjectKey>& pods = pods_.on(name);
    out.insert(out.end(), pods.begin(), pods.end());
    return out;
  }

  std::vector<ObjectKey> on_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    const std::string came_to = pods_.observe(before, after);
    // One that is well is not looked at for each pod that comes; one that is not there must be.
    const bool matters = !there_.contains(came_to) || no_execute_.contains(came_to);
    if (!came_to.empty() && matters) out.push_back(key_of_node(came_to));
    if (after && no_execute_.contains(pods_.node_of(after->key()))) out.push_back(after->key());
    return out;
  }

  // True when the node has been silent for too long; otherwise `left` until then.
  bool silent(const NodeView& node, const client::Cache& cache, WallTime now, Duration& left) {
    const ObjectPtr lease = cache.get(kinds::kLease, keys::kNodeLeaseNamespace, node->name());
    const auto [place, fresh] = beats_.try_emplace(node->name());
    Beat& beat = place->second;
    const Revision lease_revision = lease ? lease->revision() : Revision();
    // A node's own status counts as a sign of life too, what others write on it does not.
    std::string heartbeat = beat.heartbeat;
    if (beat.node != node->revision()) {
      beat.node = node->revision();
      heartbeat.clear();
      const JsonArray* list = array_at(node.document(), {"status", "conditions"});
      if (list != nullptr) {
        for (const Json& condition : *list)
          heartbeat += text_at(condition, {"lastHeartbeatTime"}) + ";";
      }
    }
    if (fresh || beat.lease != lease_revision || beat.heartbeat != heartbeat) {
      beat.lease = lease_revision;
      beat.heartbeat = std::move(heartbeat);
      beat.noticed = now;
    }
    left = beat.noticed + kNodeGrace - now;
    return left <= Duration(0);
  }

  Plan check_node(const NodeView& node, const client::Cache& cache, WallTime now) {
    Plan plan;
    Duration left{};
    if (silent(node, cache, now, left)) {
      if (auto status = silenced_status(node, now)) {
        Json document = node.document();
        set_path(document, {"status"}, *std::move(status));
        plan.then(
            {client::UpdateWrite{kinds::kNode, "", node->name(), std::move(document), "status"},
             Code::NotFound,
             EventNote{EventNote::Type::Normal, "NodeNotReady",
                       "Node " + node->name() + " status is now: NodeNotReady"},
             {}});
        return plan;  // the taints follow when this is seen
      }
    } else {
      plan.outcome = Outcome::requeue_after(left);
    }
    if (auto taints = wanted_taints(node, now)) {
      Json patch(boost::json::object_kind);
      set_path(patch, {"spec", "taints"},
               taints->empty() ? Json(nullptr) : Json(*std::move(taints)));
      client::PatchWrite write{kinds::kNode, "", node->name(), client::PatchType::Merge,
                               std::move(patch)};
      write.only_if = node->revision();
      plan.then({std::move(write), Code::NotFound, {}, {}});
    }
    const auto ready = node.condition("Ready");
    if (ready && !ready->is_true()) plan.steps.push_back(mark_pods(node->name(), cache, now));
    return plan;
  }

  std::vector<PlannedWrite> mark_pods(const std::string& node, const client::Cache& cache,
                                      WallTime now) const {
    std::vector<PlannedWrite> out;
    for (const ObjectKey& key : pods_.on(node)) {
      const PodView pod(cache.get(key));
      if (pod && !pod.finished() && pod.ready()) out.push_back(mark_not_ready(pod, now));
    }
    return out;
  }

  Plan check_pod(const ObjectPtr& object, WallTime now) const {
    const PodView pod(object);
    if (!pod || pod.deleting() || pod.finished()) return {};
    const auto taints = no_execute_.find(pod.node_name().text());
    if (taints == no_execute_.end()) return {};
    const auto due = eviction_time(pod.tolerations(), taints->second);
    if (!due) return {};
    if (*due <= now) return evict(pod, now);
    Plan plan;
    plan.outcome = Outcome::requeue_after(*due - now);
    return plan;
  }

  // A node may be registering anew: its pods are given some time.
  Plan check_absent(const std::string& node, const client::Cache& cache, WallTime now) {
    Plan plan;
    const std::set<ObjectKey>& pods = pods_.on(node);
    if (pods.empty()) {
      absent_since_.erase(node);
      return plan;
    }
    const WallTime since = absent_since_.try_emplace(node, now).first->second;
    const Duration left = since + kNodeGrace - now;
    if (left > Duration(0)) {
      plan.outcome = Outcome::requeue_after(left);
      return plan;
    }
    std::vector<PlannedWrite> marks, deletes;
    for (const ObjectKey& key : pods) {
      const PodView pod(cache.get(key));
      if (pod) remove_orphan(pod, now, marks, deletes);
    }
    plan.steps.push_back(std::move(marks));
    plan.steps.push_back(std::move(deletes));
    plan.outcome = Outcome::requeue_after(kNodeGrace);  // finalizers may have held some
    return plan;
  }

  // Indexes of what the cache shows and observations of time; all begin anew after a restart.
  mutable PodsByNode pods_;
  mutable std::set<std::string> there_;  // nodes
  mutable std::map<std::string, std::vector<TimedTaint>>
      no_execute_;  // nodes that have such taints
  mutable std::map<std::string, Beat> beats_;
  std::map<std::string, WallTime> absent_since_;
};

}  // namespace

std::unique_ptr<Reconciler> make_node_controller() {
  return std::make_unique<NodeController>();
}

}  // namespace krater::controllers
