#include "controllers/rayjob/rayjob_controller.h"

#include "controllers/rayjob/dashboard.h"
#include "controllers/rayjob/machine.h"

namespace krater::controllers {
namespace {

class RayJobController final : public Reconciler {
 public:
  explicit RayJobController(RayJobDeps deps)
      : deps_(std::move(deps)),
        rules_{.scheduler = deps_.scheduler,
               .cluster = deps_.cluster,
               .delete_job_after_finish = deps_.delete_job_after_finish},
        dashboard_(deps_.http, deps_.loop, deps_.clock, deps_.enqueue) {}

  std::string_view name() const override { return "rayjob-controller"; }

  std::vector<Interest> interests() const override {
    std::vector<Interest> out{
        {kinds::kRayJob, {}},
        owned_by(kinds::kRayCluster, kinds::kRayJob),
        owned_by(kinds::kService, kinds::kRayJob),
        owned_by(kinds::kJob, kinds::kRayJob),
        // Read, to find a head's address; its changes come through the cluster's status.
        {kinds::kPod, [](const ObjectPtr&, const ObjectPtr&) { return std::vector<ObjectKey>(); }},
        {kRuntimeClassKind,
         [](const ObjectPtr&, const ObjectPtr&) { return std::vector<ObjectKey>(); }}};
    if (const Kind* gang = deps_.scheduler.gang_kind())
      out.push_back(owned_by(*gang, kinds::kRayJob));
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    JobSeen seen = observe_job(key, cache, rules_, deps_.resolve);
    if (!seen.job) {
      dashboard_.forget(key);
      return {};
    }
    if (const auto wish = wants_polling(seen)) {
      dashboard_.follow(key, {seen.dashboard_address, wish->job_id, wish->every});
    } else {
      dashboard_.unfollow(key);
    }
    seen.stop = dashboard_.stop_state(key);
    if (wants_stop_call(seen))
      dashboard_.stop_job(key, *seen.dashboard_address, seen.status.job_id);
    seen.answer = dashboard_.last(key);
    return step_job(seen, rules_, now);
  }

 private:
  RayJobDeps deps_;
  JobRules rules_;
  Dashboard dashboard_;
};

}  // namespace

std::unique_ptr<Reconciler> make_rayjob_controller(RayJobDeps deps) {
  return std::make_unique<RayJobController>(std::move(deps));
}

}  // namespace krater::controllers
