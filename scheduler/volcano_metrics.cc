#include "scheduler/volcano_metrics.h"

#include <algorithm>
#include <set>

namespace krater::scheduler {
namespace {

// Volcano's.
const std::vector<double> kSessionBounds = exponential_bounds(1, 5000, 20);
const std::vector<double> kActionBounds = exponential_bounds(1, 2000, 20);
const std::vector<double> kPluginBounds = exponential_bounds(0.1, 100, 15);
const std::vector<double> kJobBounds = exponential_bounds(100, 120'000, 30);
const std::vector<double> kPodBounds = exponential_bounds(50, 60'000, 30);
const std::vector<double> kWorkBounds = exponential_bounds(0.1, 500, 20);

double milliseconds(Duration took) {
  return std::max(0.0, std::chrono::duration<double, std::milli>(took).count());
}

std::string_view to_text(VolcanoMetrics::PodStage stage) {
  switch (stage) {
    case VolcanoMetrics::PodStage::Watched:
      return "Watched";
    case VolcanoMetrics::PodStage::Assumed:
      return "Assumed";
    case VolcanoMetrics::PodStage::PreBound:
      return "PreBound";
    case VolcanoMetrics::PodStage::Bound:
      return "Bound";
  }
  return {};
}

std::string_view to_text(VolcanoMetrics::Work work) {
  switch (work) {
    case VolcanoMetrics::Work::PreBind:
      return "PreBind";
    case VolcanoMetrics::Work::Bind:
      return "Bind";
  }
  return {};
}

std::string_view to_text(PluginPart part) {
  switch (part) {
    case PluginPart::Open:
      return "OnSessionOpen";
    case PluginPart::Close:
      return "OnSessionClose";
  }
  return {};
}

Histogram& of(std::map<std::string, Histogram, std::less<>>& histograms, std::string_view name,
              const std::vector<double>& bounds) {
  const auto known = histograms.find(name);
  if (known != histograms.end()) return known->second;
  return histograms.emplace(std::string(name), Histogram(bounds)).first->second;
}

bool is_counted(std::string_view action) {
  static const std::set<std::string_view> kActions{"preempt", "reclaim", "gangpreempt",
                                                   "gangreclaim"};
  return kActions.contains(action);
}

}  // namespace

VolcanoFigures::VolcanoFigures()
    : cycle(kSessionBounds), open_session(kSessionBounds), job_latency(kJobBounds) {}

void VolcanoMetrics::pods_reached(PodStage stage, Duration since_creation, std::uint64_t pods) {
  of(figures_.pod_stages, to_text(stage), kPodBounds).observe(milliseconds(since_creation), pods);
}

void VolcanoMetrics::work_took(Work work, Duration took, std::uint64_t pods) {
  of(figures_.work_stages, to_text(work), kWorkBounds).observe(milliseconds(took), pods);
}

void VolcanoMetrics::session_opened(Duration took) {
  figures_.open_session.observe(milliseconds(took));
}

void VolcanoMetrics::plugin_took(std::string_view plugin, PluginPart part, Duration took) {
  figures_.plugins.try_emplace({std::string(plugin), std::string(to_text(part))}, kPluginBounds)
      .first->second.observe(milliseconds(took));
}

void VolcanoMetrics::action_took(std::string_view action, Duration took) {
  of(figures_.actions, action, kActionBounds).observe(milliseconds(took));
}

void VolcanoMetrics::cycle_took(Duration took) {
  figures_.cycle.observe(milliseconds(took));
}

void VolcanoMetrics::take(const Session& session) {
  SessionFigures now = session.figures();
  counts_gangs_ = now.counts_gangs;
  counts_shares_ = now.counts_shares;
  figures_.names = session.names();
  figures_.total = session.total();
  figures_.queues.resize(now.queues.size());
  for (QueueId q = 0; q < now.queues.size(); ++q)
    figures_.queues[q] = {session.queue(q).name.text(), std::move(now.queues[q])};
  for (const GangFigures& one : now.gangs) {
    const JobKey& key = session.job(one.job).key;
    const auto known = one.stands ? jobs_.find(key) : jobs_.try_emplace(key).first;
    if (known == jobs_.end()) continue;
    known->second.waits = !one.stands;
    known->second.missing = one.missing;
    if (!one.stands) ++known->second.retries;
  }
  figures_.preemption_attempts += session.preemption_attempts();
  for (const Eviction& one : session.evictions()) {
    if (one.action == "preempt") figures_.preemption_victims = one.victims.size();
  }
}

void VolcanoMetrics::job_placed(const JobKey& job, WallTime created, WallTime now) {
  jobs_[job].placed = now;
  figures_.job_latency.observe(milliseconds(now - created));
}

void VolcanoMetrics::evicted(std::string_view action) {
  if (is_counted(action)) ++figures_.eviction_transactions[std::string(action)];
}

VolcanoFigures VolcanoMetrics::figures(const Cache& cache) const {
  static const Gang kNothing;
  VolcanoFigures out = figures_;
  std::erase_if(out.queues, [&](const VolcanoFigures::Queue& one) {
    return cache.queue(QueueName(one.name)) == nullptr;
  });
  std::size_t waiting = 0;
  for (const auto& [key, job] : cache.jobs()) {
    if (job->group == nullptr) continue;
    const auto known = jobs_.find(key);
    const Gang& gang = known == jobs_.end() ? kNothing : known->second;
    VolcanoFigures::Job one{key, job->queue.text(), job->created, gang.placed};
    if (one.placed && *one.placed < job->created) one.placed.reset();  // one of its name before it
    if (counts_shares_) one.share = dominant_share(job->allocated, out.total);
    if (counts_gangs_ && !job->tasks.empty()) one.missing = gang.missing;
    if (counts_gangs_) one.retries = gang.retries;
    waiting += gang.waits ? 1 : 0;
    out.jobs.push_back(std::move(one));
  }
  if (counts_gangs_) out.unscheduled_jobs = waiting;
  return out;
}

}  // namespace krater::scheduler
