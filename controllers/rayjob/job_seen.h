// What one pass of the RayJob controller looks at: objects as the cache has them and what the Ray
// dashboard said last. Values only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "controllers/batchscheduler/batch_scheduler.h"
#include "controllers/ray/cluster_context.h"
#include "model/pod_overhead.h"
#include "model/rayjob.h"

namespace krater::controllers {

// What GET /api/jobs/<id> gave.
struct DashboardAnswer {
  enum class What { Job, NoSuchJob, Problem };
  What what = What::Problem;
  WallTime asked{};
  std::string status, message;  // Ray's words; for a Problem the message says what went wrong
  std::optional<WallTime> start{}, end{};

  bool same_news(const DashboardAnswer& other) const {
    return what == other.what && status == other.status && message == other.message &&
           start == other.start && end == other.end;
  }
};

// The stop-job call that precedes the end of a RayJob.
enum class StopCall { NotAsked, UnderWay, Over };

struct JobSeen {
  RayJobView job{};
  RayJobStatus status{};
  RayClusterView cluster{};        // status.rayClusterName
  bool cluster_pods_left = false;  // only looked at while stopping
  ObjectPtr submitter{};           // the batch Job named like the RayJob, whoever owns it
  ObjectPtr head_service{};        // "<rayjob>-head-svc"
  ObjectPtr cluster_head_service{};
  ObjectPtr pod_group{};
  std::optional<std::string> dashboard_address{};  // "ip:port", when it can be reached
  std::optional<DashboardAnswer> answer{};
  StopCall stop = StopCall::NotAsked;
  RuntimeClasses runtime_class{};

  bool submitter_is_ours() const;
};

struct JobRules {
  const BatchScheduler& scheduler;
  ClusterOptions cluster{};
  Duration transition_grace = 300s;
  Duration status_check_timeout = 300s;
  Duration submitter_timeout = 30s;
  bool delete_job_after_finish =
      false;  // with shutdownAfterJobFinishes: the RayJob goes, not only its cluster
};

// Where a service's port can be reached, from the cache alone: the control plane may have no
// cluster DNS.
using ServiceResolver = std::function<std::optional<std::string>(
    const client::Cache& cache, std::string_view name_space, std::string_view service,
    std::string_view port)>;
// "ip:port" of the first running pod, by name, that the service selects; unready ones only when the
// service publishes them.
std::optional<std::string> resolve_by_pods(const client::Cache& cache, std::string_view name_space,
                                           std::string_view service, std::string_view port);

// Without the dashboard's part. Null `job` when there is no such object.
JobSeen observe_job(const ObjectKey& key, const client::Cache& cache, const JobRules& rules,
                    const ServiceResolver& resolve);

}  // namespace krater::controllers
