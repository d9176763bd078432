#include "controllers/volcano_counts/volcano_counts.h"

#include <algorithm>

#include "model/job_flow.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

const std::vector<double> kBounds = exponential_bounds(50, 60'000, 30);  // Volcano's

std::pair<std::string, std::string> place_of(const ObjectPtr& before, const ObjectPtr& after) {
  const Object& object = after ? *after : *before;
  return {object.name_space(), object.name()};
}

}  // namespace

VolcanoControllerFigures::VolcanoControllerFigures() : pod_creation(kBounds) {}

void VolcanoCounts::observe(ControllerLoop& loop, Sources sources) {
  if (sources.jobs) {
    loop.observe(kinds::kVolcanoJob, [this](const ObjectPtr& before, const ObjectPtr& after) {
      job_changed(before, after);
    });
    // Of pods that were there before us, nobody saw how long they took.
    loop.observe(kinds::kPod, [this, &loop](const ObjectPtr& before, const ObjectPtr& after) {
      if (before == nullptr && loop.synced()) pod_made(*after);
    });
  }
  if (sources.flows) {
    loop.observe(kinds::kJobFlow, [this](const ObjectPtr& before, const ObjectPtr& after) {
      flow_changed(before, after);
    });
    loop.observe(kinds::kNamespace, [this](const ObjectPtr& before, const ObjectPtr& after) {
      if (after == nullptr) flows_.erase(before->name());
    });
  }
  if (!sources.queues) return;
  loop.observe(kinds::kPodGroup, [this](const ObjectPtr& before, const ObjectPtr& after) {
    group_changed(before, after);
  });
  loop.observe(kinds::kQueue, [this](const ObjectPtr& before, const ObjectPtr& after) {
    if (after == nullptr) {
      queues_.erase(before->name());
    } else {
      queues_.insert(after->name());
    }
  });
}

void VolcanoCounts::job_changed(const ObjectPtr& before, const ObjectPtr& after) {
  const Place place = place_of(before, after);
  if (after == nullptr) {
    jobs_.erase(place);
    return;
  }
  const VolcanoJobView view(after);
  Job& job = jobs_[place];
  if (job.uid != after->uid()) job = {after->uid(), after->created()};
  job.queue = view.queue().text();
  const auto phase = view.phase();
  const std::string now(phase ? to_text(*phase) : std::string_view());
  const std::string last = std::exchange(job.phase, now);
  if (before == nullptr || last == now) return;
  if (phase == VolcanoJobPhase::Completed) ++job.completed;
  if (phase == VolcanoJobPhase::Failed) ++job.failed;
}

void VolcanoCounts::pod_made(const Object& pod) {
  const OwnerReference* owner = pod.controller();
  if (owner == nullptr || owner->kind != kinds::kVolcanoJob.kind) return;
  const auto job = jobs_.find({pod.name_space(), owner->name});
  if (job == jobs_.end() || job->second.uid != owner->uid || !job->second.created || !pod.created())
    return;
  const Duration took = *pod.created() - *job->second.created;
  pod_creation_.observe(std::max(0.0, std::chrono::duration<double, std::milli>(took).count()));
}

void VolcanoCounts::flow_changed(const ObjectPtr& before, const ObjectPtr& after) {
  const Place place = place_of(before, after);
  if (after == nullptr) {
    flow_phases_.erase(place);
    return;
  }
  const std::string now = JobFlowView(after).phase();
  const std::string last = std::exchange(flow_phases_[place], now);
  if (before == nullptr || last == now) return;
  if (now == "Succeed") ++flows_[after->name_space()].succeeded;
  if (now == "Failed") ++flows_[after->name_space()].failed;
}

void VolcanoCounts::group_changed(const ObjectPtr& before, const ObjectPtr& after) {
  const Place place = place_of(before, after);
  if (after == nullptr) {
    groups_.erase(place);
    return;
  }
  const PodGroupView view(after);
  groups_.insert_or_assign(place, std::pair(view.queue(), view.phase()));
}

VolcanoControllerFigures VolcanoCounts::figures() const {
  VolcanoControllerFigures out;
  for (const auto& [place, job] : jobs_) {
    if (job.completed + job.failed > 0)
      out.jobs.push_back({place.first, place.second, job.queue, job.completed, job.failed});
  }
  out.flows = flows_;
  for (const std::string& queue : queues_)
    out.queues.emplace(queue, VolcanoControllerFigures::Queue());
  for (const auto& [place, group] : groups_) {
    const auto queue = out.queues.find(group.first.text());
    if (queue != out.queues.end()) ++queue->second.groups[static_cast<std::size_t>(group.second)];
  }
  out.pod_creation = pod_creation_;
  return out;
}

}  // namespace krater::controllers
