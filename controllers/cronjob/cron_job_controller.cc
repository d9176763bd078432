#include "controllers/cronjob/cron_job_controller.h"

#include <algorithm>

#include "controllers/cronjob/cron_job_step.h"

namespace krater::controllers {
namespace {

std::vector<ObjectKey> cron_job_of(const ObjectPtr& before, const ObjectPtr& after) {
  std::vector<ObjectKey> out;
  for (const ObjectPtr& job : {before, after}) {
    const OwnerReference* owner = job == nullptr ? nullptr : job->controller();
    if (owner == nullptr || owner->kind != kinds::kCronJob.kind ||
        owner->api_version != kinds::kCronJob.api_version())
      continue;
    ObjectKey key = ObjectKey::of(kinds::kCronJob, job->name_space(), owner->name);
    if (std::ranges::find(out, key) == out.end()) out.push_back(std::move(key));
  }
  return out;
}

class CronJobController final : public Reconciler {
 public:
  std::string_view name() const override { return "cronjob-controller"; }
  std::vector<Interest> interests() const override {
    return {{kinds::kCronJob}, {kinds::kJob, cron_job_of}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    CronJobSeen seen{CronJobView(cache.get(key)), {}};
    if (!seen.cron) return {};
    for (const ObjectPtr& job : cache.controlled_by(kinds::kJob, seen.cron->uid()))
      seen.jobs.emplace_back(job);
    return cron_job_step(seen, now);
  }
};

}  // namespace

std::unique_ptr<Reconciler> make_cron_job_controller() {
  return std::make_unique<CronJobController>();
}

}  // namespace krater::controllers
