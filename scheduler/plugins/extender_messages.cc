#include "scheduler/plugins/extender_messages.h"

#include "model/keys.h"

namespace krater::scheduler {
namespace {

// Volcano's numbers: a bit each, in the order in which we name them too.
std::int64_t status_number(TaskStatus status) {
  return std::int64_t{1} << static_cast<unsigned>(status);
}

Json taint_message(const Taint& taint) {
  JsonObject out;
  out["key"] = taint.key;
  if (!taint.value.empty()) out["value"] = taint.value;
  out["effect"] = taint.effect;
  return Json(std::move(out));
}

}  // namespace

Json resource_message(const ResourceNames& names, const Resource& amounts) {
  JsonObject out, scalars;
  out["MilliCPU"] = amounts.at(kCpu);
  out["Memory"] = amounts.at(kMemory);
  for (Dim d = 0; d < amounts.dims(); ++d) {
    if (d == kCpu || d == kMemory || amounts.at(d) == 0) continue;
    scalars[names.name(d)] = d == kPods ? amounts.at(d) : scale(amounts.at(d), 1000, 1);
  }
  out["ScalarResources"] = std::move(scalars);
  out["MaxTaskNum"] = 0;
  return Json(std::move(out));
}

Json task_message(const Session& session, const Task& task) {
  const TaskSpec& spec = *task.spec;
  const Json request = resource_message(session.names(), spec.shape->request);
  JsonObject out;
  out["UID"] = spec.pod->uid().text();
  out["Job"] = spec.job.text();
  out["Name"] = spec.name();
  out["Namespace"] = spec.name_space();
  out["TaskRole"] = spec.role;
  out["Resreq"] = request;
  out["InitResreq"] = request;
  out["NodeName"] = task.node != kNoNode && session.has_node(task.node)
                        ? Json(session.node(task.node).name)
                        : Json("");
  out["Status"] = status_number(task.status);
  out["Priority"] = spec.priority;
  out["Preemptable"] = spec.preemptable;
  out["BestEffort"] = spec.shape->best_effort();
  out["SchGated"] = spec.gated;
  out["Pod"] = *spec.pod->document();
  return Json(std::move(out));
}

Json job_message(const Session& session, const JobInfo& job) {
  JsonObject out, tasks, minimums;
  for (const Task& task : job.tasks)
    tasks[task.spec->pod->uid().text()] = task_message(session, task);
  for (const auto& [role, minimum] : job.role_minimums) minimums[role] = minimum;
  out["UID"] = job.key.text();
  out["PgUID"] = job.group ? Json(job.group->uid().text()) : Json("");
  out["Name"] = job.key.name;
  out["Namespace"] = job.key.name_space;
  out["Queue"] = job.queue.text();
  out["Priority"] = job.priority;
  out["MinAvailable"] = job.min_member;
  out["TaskMinAvailable"] = std::move(minimums);
  out["Tasks"] = std::move(tasks);
  out["Allocated"] = resource_message(session.names(), job.allocated);
  out["TotalRequest"] = resource_message(session.names(), job.allocated + job.pending);
  out["CreationTimestamp"] = to_rfc3339(job.created);
  out["PodGroup"] = job.group ? *job.group->document() : Json();
  return Json(std::move(out));
}

Json node_message(const Session& session, NodeSlot slot) {
  const NodeInfo& node = session.node(slot);
  const ResourceNames& names = session.names();
  JsonObject labels, object, out;
  for (const auto& [key, value] : node.spec->labels) labels[key] = value;
  JsonArray taints;
  for (const Taint& taint : node.spec->taints) taints.push_back(taint_message(taint));
  object["metadata"] = JsonObject{{"name", node.name}, {"labels", std::move(labels)}};
  object["spec"] =
      JsonObject{{"unschedulable", node.spec->unschedulable}, {"taints", std::move(taints)}};
  out["Name"] = node.name;
  out["Node"] = std::move(object);
  out["Idle"] = resource_message(names, node.idle);
  out["Used"] = resource_message(names, node.used);
  out["Releasing"] = resource_message(names, node.releasing);
  out["Pipelined"] = resource_message(names, node.pipelined);
  out["Allocatable"] = resource_message(names, node.spec->allocatable);
  return Json(std::move(out));
}

Json queue_message(const QueueInfo& queue) {
  const ObjectView view(queue.object);
  JsonObject out;
  out["UID"] = queue.name.text();
  out["Name"] = queue.name.text();
  out["Weight"] = queue.weight;
  out["Hierarchy"] = std::string(view.annotation("volcano.sh/hierarchy"));
  out["Weights"] = std::string(view.annotation("volcano.sh/hierarchy-weights"));
  out["Queue"] = view.document();
  return Json(std::move(out));
}

Json session_message(const Session& session) {
  JsonObject jobs, nodes, queues;
  for (JobId id = 0; id < session.job_count(); ++id)
    jobs[session.job(id).key.text()] = job_message(session, session.job(id));
  for (const NodeSlot slot : session.node_order())
    nodes[session.node(slot).name] = node_message(session, slot);
  for (QueueId id = 0; id < session.queue_count(); ++id)
    queues[session.queue(id).name.text()] = queue_message(session.queue(id));
  JsonObject out;
  out["Jobs"] = std::move(jobs);
  out["Nodes"] = std::move(nodes);
  out["Queues"] = std::move(queues);
  out["NamespaceInfo"] = JsonObject();
  out["RevocableNodes"] = JsonObject();
  out["NodeList"] = JsonArray();
  return Json(std::move(out));
}

}  // namespace krater::scheduler
