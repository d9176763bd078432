#include "controllers/jobflow/jobflow_controller.h"

#include <algorithm>
#include <set>

#include "client/status_update.h"
#include "controllers/jobflow/flow_status.h"
#include "controllers/loop/event_source.h"

namespace krater::controllers {
namespace {

using jobflow::flow_status;
using jobflow::has_completed;

// "<namespace>.<name>", as the marks of the jobs have it.
std::string mark_of(const Object& object) {
  return object.name_space() + "." + object.name();
}

std::vector<ObjectKey> keys_of_job(const ObjectPtr& before, const ObjectPtr& after) {
  const Object& job = after ? *after : *before;
  const OwnerReference* owner = job.controller();
  if (owner == nullptr || owner->kind != kinds::kJobFlow.kind) return {};
  return {ObjectKey::of(kinds::kJobFlow, job.name_space(), owner->name)};
}

PlannedWrite write_status(const Object& object, const Kind& kind, Json status) {
  return {client::status_update(kind, object, std::move(status))};
}

class JobFlowController final : public Reconciler, public VolcanoEventSource {
 public:
  std::string_view name() const override { return "jobflow-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kJobFlow},
            {kinds::kVolcanoJob,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               std::vector<ObjectKey> out = keys_of_job(before, after);
               // A name may be free now.
               if (after == nullptr) out.insert(out.end(), held_.begin(), held_.end());
               return out;
             }},
            {kinds::kJobTemplate, [this](const ObjectPtr&, const ObjectPtr& after) {
               // One that was missed may be here now.
               return after == nullptr ? std::vector<ObjectKey>()
                                       : std::vector<ObjectKey>(waiting_.begin(), waiting_.end());
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    Plan plan;
    waiting_.erase(key);
    held_.erase(key);
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || object->deletion()) return plan;
    const JobFlowView flow(object);
    std::vector<VolcanoJobView> jobs;
    for (const ObjectPtr& job : cache.controlled_by(kinds::kVolcanoJob, object->uid()))
      jobs.emplace_back(job);
    if (flow.phase() == "Succeed" && flow.deletes_jobs()) return remove(jobs);
    const bool over = flow.phase() == "Failed" || flow.phase() == "Succeed";
    if (!over) plan.steps.push_back(next_jobs(flow, jobs, cache, plan));
    // Nothing has begun yet, for want of templates: whoever wrote the flow may go on writing it.
    if (jobs.empty() && waiting_.contains(key) && plan.steps.back().empty()) return plan;
    Json status = flow_status(flow, jobs, now);
    const Json* stored = find(flow.document(), {"status"});
    if (stored == nullptr || *stored != status)
      plan.then(write_status(*object, kinds::kJobFlow, std::move(status)));
    return plan;
  }

 private:
  static Plan remove(const std::vector<VolcanoJobView>& jobs) {
    Plan plan;
    std::vector<PlannedWrite> removals;
    for (const VolcanoJobView& job : jobs) {
      if (job->deletion()) continue;
      client::DeleteWrite gone{kinds::kVolcanoJob, job->name_space(), job->name()};
      gone.only_uid = job->uid();
      removals.push_back({std::move(gone), Code::NotFound, {}, {}});
    }
    plan.steps.push_back(std::move(removals));
    return plan;
  }

  std::vector<PlannedWrite> next_jobs(const JobFlowView& flow,
                                      const std::vector<VolcanoJobView>& jobs,
                                      const client::Cache& cache, Plan& plan) const {
    const auto phase_of = [&](const std::string& name) -> std::optional<VolcanoJobPhase> {
      for (const VolcanoJobView& job : jobs) {
        if (job->name() == name) return job.phase().value_or(VolcanoJobPhase::Pending);
      }
      if (has_completed(flow, name)) return VolcanoJobPhase::Completed;
      return std::nullopt;
    };
    std::vector<PlannedWrite> out;
    for (const JobFlowView::Flow& one : flow.flows()) {
      if (phase_of(flow.job_name(one.name))) continue;
      const bool ready = std::ranges::all_of(one.targets, [&](const std::string& target) {
        return phase_of(flow.job_name(target)) == VolcanoJobPhase::Completed;
      });
      if (!ready) continue;
      const ObjectPtr source = cache.get(kinds::kJobTemplate, flow->name_space(), one.name);
      if (source == nullptr) {
        waiting_.insert(flow->key());
        plan.events.push_back({EventNote::Type::Warning, "FailedCreate",
                               "there is no JobTemplate named " + one.name});
        continue;
      }
      if (const ObjectPtr other =
              cache.get(kinds::kVolcanoJob, flow->name_space(), flow.job_name(one.name))) {
        held_.insert(flow->key());
        if (!other->deletion()) plan.events.push_back(told_held(other->name()));
        continue;
      }
      out.push_back(create(flow, one.name, *source));
    }
    return out;
  }

  static EventNote told_held(const std::string& job) {
    return {EventNote::Type::Warning, "FailedCreate",
            "job " + job + " is somebody else's: the flow waits until the name is free"};
  }

  static PlannedWrite create(const JobFlowView& flow, const std::string& name,
                             const Object& source) {
    const std::string job = flow.job_name(name);
    Json out = new_object(kinds::kVolcanoJob, flow->name_space(), job);
    const Labels marks{{std::string(keys::kCreatedByJobFlow), mark_of(*flow.object())},
                       {std::string(keys::kCreatedByJobTemplate), mark_of(source)}};
    set_path(out, {"metadata", "labels"}, to_json_object(marks));
    set_path(out, {"metadata", "annotations"}, to_json_object(marks));
    set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*flow.object())});
    const auto document = source.document();
    if (const Json* spec = find(*document, {"spec"})) set_path(out, {"spec"}, *spec);
    return {client::CreateWrite{kinds::kVolcanoJob, flow->name_space(), std::move(out)},
            Code::AlreadyExists,
            EventNote{EventNote::Type::Normal, "Created", "create a job named " + job + "!"},
            EventNote{EventNote::Type::Warning, "FailedCreate", "job " + job}};
  }

  mutable std::set<ObjectKey> waiting_;  // for a template
  mutable std::set<ObjectKey> held_;     // up by jobs of others
};

class JobTemplateController final : public Reconciler, public VolcanoEventSource {
 public:
  std::string_view name() const override { return "jobtemplate-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kJobTemplate},
            {kinds::kVolcanoJob, [](const ObjectPtr&, const ObjectPtr& after) {
               std::vector<ObjectKey> out;
               if (after == nullptr) return out;
               const std::string_view mark = after->label(keys::kCreatedByJobTemplate);
               const std::size_t dot = mark.find('.');
               if (dot == std::string_view::npos) return out;
               out.push_back(
                   ObjectKey::of(kinds::kJobTemplate, mark.substr(0, dot), mark.substr(dot + 1)));
               return out;
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    Plan plan;
    const ObjectPtr object = cache.get(key);
    if (object == nullptr || object->deletion()) return plan;
    JsonArray names;
    for (const ObjectPtr& job : cache.list(kinds::kVolcanoJob, object->name_space())) {
      if (job->label(keys::kCreatedByJobTemplate) == mark_of(*object))
        names.push_back(Json(job->name()));
    }
    const auto document = object->document();
    const JsonArray* stored = array_at(*document, {"status", "jobDependsOnList"});
    if (names.empty() || (stored != nullptr && *stored == names)) return plan;
    return std::move(plan.then(write_status(*object, kinds::kJobTemplate,
                                            JsonObject{{"jobDependsOnList", std::move(names)}})));
  }
};

}  // namespace

std::unique_ptr<Reconciler> make_job_flow_controller() {
  return std::make_unique<JobFlowController>();
}
std::unique_ptr<Reconciler> make_job_template_controller() {
  return std::make_unique<JobTemplateController>();
}

}  // namespace krater::controllers
