#include "controllers/cronjob/cron_job_controller.h"

#include <algorithm>

#include "controllers/cronjob/cron_job_step.h"
#include "model/job.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

const Kind kVolcanoCronJob{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
constexpr std::string_view kVolcanoScheduledTime = "volcano.sh/cronjob-scheduled-timestamp";

CronRun run_of_job(const ObjectPtr& object) {
  const JobView job(object);
  CronRun out{job, job.has("Complete"), job.has("Failed")};
  out.completed = parse_rfc3339(text_at(job.document(), {"status", "completionTime"}));
  return out;
}

CronRun run_of_volcano_job(const ObjectPtr& object) {
  const VolcanoJobView job(object);
  const std::optional<VolcanoJobPhase> phase = job.phase();
  CronRun out{job, phase == VolcanoJobPhase::Completed,
              phase == VolcanoJobPhase::Failed || phase == VolcanoJobPhase::Terminated};
  out.completed = parse_rfc3339(text_at(job.document(), {"status", "state", "lastTransitionTime"}));
  return out;
}

class CronJobController final : public Reconciler {
 public:
  CronJobController(std::string_view name, CronKinds kinds, CronRun (*run_of)(const ObjectPtr&))
      : name_(name), kinds_(kinds), run_of_(run_of) {}

  std::string_view name() const override { return name_; }
  std::vector<Interest> interests() const override {
    return {{kinds_.cron}, {kinds_.job, [this](const ObjectPtr& before, const ObjectPtr& after) {
                              return cron_job_of(before, after);
                            }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const auto named = [&cache, &kind = kinds_.job, &space = key.name_space](
                           const std::string& name) { return cache.get(kind, space, name); };
    CronJobSeen seen{kinds_, CronJobView(cache.get(key)), {}, named};
    if (!seen.cron) return {};
    for (const ObjectPtr& job : cache.controlled_by(kinds_.job, seen.cron->uid()))
      seen.jobs.push_back(run_of_(job));
    return cron_job_step(seen, now);
  }

 private:
  std::vector<ObjectKey> cron_job_of(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    for (const ObjectPtr& job : {before, after}) {
      const OwnerReference* owner = job == nullptr ? nullptr : job->controller();
      if (owner == nullptr || owner->kind != kinds_.cron.kind ||
          owner->api_version != kinds_.cron.api_version())
        continue;
      ObjectKey key = ObjectKey::of(kinds_.cron, job->name_space(), owner->name);
      if (std::ranges::find(out, key) == out.end()) out.push_back(std::move(key));
    }
    return out;
  }

  std::string_view name_;
  CronKinds kinds_;
  CronRun (*run_of_)(const ObjectPtr&);
};

}  // namespace

std::unique_ptr<Reconciler> make_cron_job_controller() {
  return std::make_unique<CronJobController>(
      "cronjob-controller",
      CronKinds{kinds::kCronJob, kinds::kJob, keys::kScheduledTime, words_of_kubernetes()},
      run_of_job);
}

std::unique_ptr<Reconciler> make_volcano_cron_job_controller() {
  return std::make_unique<CronJobController>(
      "vc-cronjob-controller",
      CronKinds{kVolcanoCronJob, kinds::kVolcanoJob, kVolcanoScheduledTime, words_of_volcano()},
      run_of_volcano_job);
}

}  // namespace krater::controllers
