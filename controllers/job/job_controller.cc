#include "controllers/job/job_controller.h"

#include <algorithm>
#include <map>

#include "controllers/job/step.h"
#include "model/selector.h"

namespace krater::controllers {
namespace {

bool tracked(const Object& pod) {
  return std::ranges::count(pod.finalizers(), keys::kJobTracking) > 0;
}

const OwnerReference* owning_job(const Object& object) {
  const OwnerReference* owner = object.controller();
  return owner != nullptr && owner->kind == kinds::kJob.kind &&
                 owner->api_version == kinds::kJob.api_version()
             ? owner
             : nullptr;
}

// A pod wakes its Job. One that holds the finalizer wakes itself too when it is being deleted (its
// Job may be gone) or belongs to no Job (it was orphaned).
std::vector<ObjectKey> keys_of_pod(const ObjectPtr& before, const ObjectPtr& after) {
  std::vector<ObjectKey> out;
  for (const ObjectPtr& pod : {before, after}) {
    if (pod == nullptr) continue;
    const OwnerReference* owner = owning_job(*pod);
    if (owner == nullptr) continue;
    ObjectKey key = ObjectKey::of(kinds::kJob, pod->name_space(), owner->name);
    if (std::ranges::count(out, key) == 0) out.push_back(std::move(key));
  }
  if (after != nullptr && tracked(*after) && (after->deletion() || owning_job(*after) == nullptr)) {
    out.push_back(after->key());
  }
  return out;
}

class JobController final : public Reconciler {
 public:
  std::string_view name() const override { return "job-controller"; }
  std::vector<Interest> interests() const override {
    return {{kinds::kJob}, {kinds::kPod, [this](const ObjectPtr& before, const ObjectPtr& after) {
                              if (after == nullptr) note_gone(*before);
                              return keys_of_pod(before, after);
                            }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectPtr object = cache.get(key);
    if (object == nullptr) {
      last_gone_.erase(key);
      return {};
    }
    if (key.resource == kinds::kPod.resource()) return on_pod(object, cache);
    const JobView job(object);
    if (!job.managed_here()) return {};
    Plan adoption = adopt(job, cache);
    if (!adoption.steps.empty()) return adoption;
    const auto gone = last_gone_.find(key);
    JobObserved seen{
        job, {}, {gone == last_gone_.end() ? Uid() : gone->second, [&](const std::string& pod) {
                    return cache.get(kinds::kPod, object->name_space(), pod) != nullptr;
                  }}};
    for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, object->uid()))
      seen.pods.push_back(fact(pod));
    return step(seen, now);
  }

 private:
  // Nobody comes to count a pod whose Job is gone: it must not wait for that.
  static Plan on_pod(const ObjectPtr& pod, const client::Cache& cache) {
    Plan plan;
    if (!tracked(*pod)) return plan;
    const OwnerReference* owner = owning_job(*pod);
    if (owner == nullptr) return std::move(plan.then(untrack(pod)));
    const ObjectPtr job = cache.get(kinds::kJob, pod->name_space(), owner->name);
    const bool orphan = job == nullptr || job->uid() != owner->uid;
    if (orphan && pod->deletion()) plan.then(untrack(pod));
    return plan;
  }

  // A Job of a thousand pods is passed over a thousand times: each pod is read once a revision.
  const PodFact& fact(const ObjectPtr& pod) {
    PodFact& known = facts_[pod->key()];
    if (known.object != pod) known = fact_of(pod);
    return known;
  }

  // Only a selector written by the user can match pods that somebody else made.
  static Plan adopt(const JobView& job, const client::Cache& cache) {
    Plan plan;
    if (!job.manual_selector() || job.selector() == nullptr || job->deletion() || job.finished())
      return plan;
    const Result<LabelSelector> selector = LabelSelector::from_object(*job.selector());
    if (!selector || selector->empty()) return plan;
    std::vector<PlannedWrite> adoptions;
    for (const ObjectPtr& pod : cache.list(kinds::kPod, job->name_space())) {
      if (pod->controller() != nullptr || pod->deletion() || !selector->matches(pod->labels()))
        continue;
      Json metadata = *find(*pod->document(), {"metadata"});
      JsonArray owners, finalizers;
      if (const JsonArray* present = array_at(metadata, {"ownerReferences"})) owners = *present;
      if (const JsonArray* present = array_at(metadata, {"finalizers"})) finalizers = *present;
      owners.push_back(controller_reference(*job.object()));
      if (!tracked(*pod)) finalizers.push_back(Json(keys::kJobTracking));
      Json patch(boost::json::object_kind);
      set_path(patch, {"metadata", "ownerReferences"}, std::move(owners));
      set_path(patch, {"metadata", "finalizers"}, std::move(finalizers));
      client::PatchWrite write{kinds::kPod, pod->name_space(), pod->name(),
                               client::PatchType::Merge, std::move(patch)};
      write.only_if = pod->revision();
      adoptions.push_back({std::move(write), Code::NotFound, {}, {}});
    }
    if (!adoptions.empty()) plan.steps.push_back(std::move(adoptions));
    return plan;
  }

  void note_gone(const Object& pod) const {
    facts_.erase(pod.key());
    if (const OwnerReference* owner = owning_job(pod))
      last_gone_[ObjectKey::of(kinds::kJob, pod.name_space(), owner->name)] = pod.uid();
  }

  mutable std::map<ObjectKey, PodFact> facts_;  // of pods that are there
  mutable std::map<ObjectKey, Uid> last_gone_;  // of the pods of Jobs that are there
};

}  // namespace

std::unique_ptr<Reconciler> make_job_controller() {
  return std::make_unique<JobController>();
}

}  // namespace krater::controllers
