#include <map>
#include <set>
#include <utility>

#include "controllers/node/node_controller.h"
#include "model/pod.h"

namespace krater::controllers {
namespace {

const ObjectKey kAllPods = ObjectKey::of(kinds::kPod, "", "");

// Keeps the finished pods in order of age, so that the oldest are known without a scan.
class PodGc final : public Reconciler {
 public:
  explicit PodGc(std::size_t kept) : kept_(kept) {}

  std::string_view name() const override { return "pod-garbage-collector"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kPod, [this](const ObjectPtr& before, const ObjectPtr& after) {
               return observe(before, after);
             }}};
  }

  Plan reconcile(const ObjectKey&, const client::Cache& cache, WallTime) override {
    Plan plan;
    std::vector<PlannedWrite> deletes;
    std::size_t excess = finished_.size() > kept_ ? finished_.size() - kept_ : 0;
    for (auto at = finished_.begin(); excess > 0 && at != finished_.end() && deletes.size() < 500;
         ++at, --excess) {
      const ObjectPtr pod = cache.get(at->second);
      if (pod == nullptr || pod->deletion()) continue;
      client::DeleteWrite write{kinds::kPod, pod->name_space(), pod->name()};
      write.only_uid = pod->uid();
      write.grace_seconds = 0;
      deletes.push_back({std::move(write), Code::NotFound, {}, {}});
    }
    plan.steps.push_back(std::move(deletes));
    return plan;
  }

 private:
  std::vector<ObjectKey> observe(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectPtr& pod = after ? after : before;
    if (before) finished_.erase({before->created().value_or(WallTime()), before->key()});
    if (!after || !PodView(after).finished()) return {};
    finished_.emplace(pod->created().value_or(WallTime()), pod->key());
    if (kept_ == 0 || finished_.size() <= kept_) return {};
    return {kAllPods};
  }

  const std::size_t kept_;
  mutable std::set<std::pair<WallTime, ObjectKey>> finished_;
};

}  // namespace

std::unique_ptr<Reconciler> make_pod_gc_controller(std::size_t finished_pods_kept) {
  return std::make_unique<PodGc>(finished_pods_kept);
}

}  // namespace krater::controllers
