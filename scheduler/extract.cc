#include "scheduler/extract.h"

#include <algorithm>

#include "base/go_bool.h"
#include "base/strings.h"
#include "model/disruption.h"
#include "model/keys.h"
#include "model/node.h"
#include "model/pod_resources.h"
#include "model/queue_gate.h"
#include "model/queue_overcommit.h"
#include "model/storage.h"
#include "model/volcano_job.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kNodeUsage = "krater.io/node-usage";
// What the node lends beyond what it has: thousandths of a core, and bytes.
constexpr std::string_view kLentCpu = "volcano.sh/oversubscription-cpu";
constexpr std::string_view kLentMemory = "volcano.sh/oversubscription-memory";

// The annotation first, then the label: Volcano's order.
std::string_view annotation_or_label(const PodView& pod, std::string_view key) {
  const std::string_view annotation = pod.annotation(key);
  return annotation.empty() ? pod->label(key) : annotation;
}

// What is neither true nor false is false.
bool is_true(std::string_view text) {
  return parse_go_bool(text).value_or(false);
}

// After it was placed, a pod may ask to be left alone for a while.
std::optional<WallTime> cools_until(const PodView& pod) {
  const std::string_view text = annotation_or_label(pod, keys::kCooldownTime);
  const std::optional<Duration> time = text.empty() ? std::nullopt : parse_go_duration(text);
  if (!time) return std::nullopt;
  const std::optional<Condition> placed = pod.condition("PodScheduled");
  const std::optional<WallTime> since = placed ? placed->last_transition : std::nullopt;
  return since ? std::optional(*since + *time) : std::nullopt;
}

// Says so, or, saying nothing of zones, that it may be preempted. "*" is the only zone there is a
// word for.
bool is_revocable(const PodView& pod) {
  const std::string_view zone = pod.annotation(keys::kRevocableZone);
  return zone.empty() ? is_true(pod.annotation(keys::kPreemptable)) : zone == "*";
}

void append_field(std::string& out, const Json* value) {
  if (value != nullptr) append_json(out, *value);
  out += '\n';
}

using Claims = std::vector<std::pair<std::string, std::string>>;

Claims claims_of(const PodView& pod) {
  Claims out;
  for (PodClaim& one : pod_claims(pod.document()))
    out.emplace_back(pod->name_space(), std::move(one.claim));
  return out;
}

// Equal text, equal shape. Unequal text may still be an equal shape; that only costs a second look.
std::string shape_text(const PodView& pod, const ResourceList& request, const Claims& claims) {
  std::string out;
  for (const auto& [name, amount] : request.amounts())
    out += name + '=' + std::to_string(amount) + ',';
  append_field(out, find(pod.spec(), {"nodeSelector"}));
  append_field(out, pod.node_affinity());
  append_field(out, find(pod.spec(), {"tolerations"}));
  for (const HostPort& port : pod.host_ports()) {
    out += port.ip + '/' + port.protocol + '/' + std::to_string(port.port) + ',';
  }
  for (const auto& [name_space, name] : claims) out += '\n' + name_space + '/' + name;
  return out;
}

std::map<std::string, std::int64_t> images_on(const Json& node) {
  std::map<std::string, std::int64_t> out;
  const JsonArray* images = array_at(node, {"status", "images"});
  for (std::size_t i = 0; images != nullptr && i < images->size(); ++i) {
    const JsonArray* names = array_at((*images)[i], {"names"});
    const std::int64_t size = int_at((*images)[i], {"sizeBytes"}).value_or(0);
    for (std::size_t n = 0; names != nullptr && n < names->size(); ++n) {
      if ((*names)[n].is_string()) out[std::string(view((*names)[n].get_string()))] = size;
    }
  }
  return out;
}

// {"time":"2026-01-01T00:00:00Z","cpu":412,"memory":305}
std::optional<NodeUsage> node_usage(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const Result<Json> given = parse_json(text);
  if (!given) return std::nullopt;
  const auto at = parse_rfc3339(text_at(*given, {"time"}));
  const auto cpu = int_at(*given, {"cpu"}), memory = int_at(*given, {"memory"});
  if (!at || !cpu || !memory) return std::nullopt;
  return NodeUsage{*at, *cpu, *memory};
}

}  // namespace

ShapePtr Shapes::of(const PodView& pod, ResourceNames& names) {
  const ResourceList request = pod_requests(pod);
  Claims claims = claims_of(pod);
  std::string text = shape_text(pod, request, claims);
  std::weak_ptr<const PodShape>& slot = known_[text];
  if (ShapePtr shape = slot.lock()) return shape;
  const auto shape = std::make_shared<const PodShape>(PodShape{
      Resource::from(request, names), pod.node_selector(), NodeAffinity::from(pod.node_affinity()),
      pod.tolerations(), pod.host_ports(), std::move(claims)});
  slot = shape;
  if (known_.size() > sweep_at_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(256, known_.size() * 2);
  }
  return shape;
}

TaskSpecPtr task_spec(const ObjectPtr& object, Shapes& shapes, TermsPool& terms,
                      ResourceNames& names) {
  const PodView pod(object);
  TaskSpec out;
  out.job = job_key(pod);
  out.pod = object;
  out.shape = shapes.of(pod, names);
  out.terms = terms.of(pod);
  out.role = std::string(annotation_or_label(pod, keys::kTaskSpec));
  if (out.role.empty()) out.role = "default";
  out.priority_class = pod.priority_class_name();
  out.priority = pod.priority().value_or(1);
  if (const auto own = parse_int(pod.annotation(keys::kTaskPriority))) out.priority = *own;
  out.created = object->created().value_or(WallTime());
  const std::vector<std::string> gates = pod.scheduling_gates();
  out.gated = !gates.empty();
  out.queue_gate = pod.annotation(keys::kQueueAllocationGate) == "true";
  out.held_by_queue =
      out.queue_gate && gates.size() == 1 && gates.front() == keys::kQueueAllocationGate;
  const std::string_view preemptable = annotation_or_label(pod, keys::kPreemptable);
  out.preemptable = preemptable.empty() || is_true(preemptable);
  out.preempts = text_at(pod.spec(), {"preemptionPolicy"}) != "Never";
  out.nominated = pod.nominated_node();
  out.number = trailing_number(object->name());
  out.started = pod.started();
  out.cools_until = cools_until(pod);
  out.revocable = is_revocable(pod);
  return std::make_shared<const TaskSpec>(std::move(out));
}

TaskStatus task_status(const PodView& pod) {
  switch (pod.phase()) {
    case PodPhase::Running:
      return pod.deleting() ? TaskStatus::Releasing : TaskStatus::Running;
    case PodPhase::Pending:
      if (pod.deleting()) return TaskStatus::Releasing;
      return pod.node_name().empty() ? TaskStatus::Pending : TaskStatus::Bound;
    case PodPhase::Succeeded:
      return TaskStatus::Succeeded;
    case PodPhase::Failed:
      // Its node tells how it ended before it goes.
      if (pod.deleting() && made_way_for_others(pod)) return TaskStatus::Releasing;
      return TaskStatus::Failed;
    case PodPhase::Unknown:
      return TaskStatus::Unknown;
  }
  return TaskStatus::Unknown;
}

JobKey job_key(const PodView& pod) {
  const std::string_view group = pod.annotation(keys::kGroupName);
  return {pod->name_space(), group.empty() ? "pod/" + pod->name() : std::string(group)};
}

void read_group(const ObjectPtr& object, JobInfo& job, const QueueName& default_queue,
                ResourceNames& names) {
  const PodGroupView group(object);
  job.group = object;
  job.known = true;
  job.queue = text_at(group.document(), {"spec", "queue"}).empty() ? default_queue : group.queue();
  job.priority_class = group.priority_class_name();
  job.min_member = group.min_member();
  job.role_minimums = group.min_task_member();
  job.min_resources.reset();
  if (const auto minimum = group.min_resources())
    job.min_resources = Resource::from(*minimum, names);
  job.network = network_wish(find(group.document(), {"spec", "networkTopology"}));
  job.sub_group_policies = sub_group_policies(find(group.document(), {"spec", "subGroupPolicy"}));
  job.regroup();
  job.created = object->created().value_or(WallTime());
  const std::string_view preemptable = group.annotation(keys::kPreemptable);
  job.yields = is_true(preemptable.empty() ? object->label(keys::kPreemptable) : preemptable);
  job.waiting_limit.reset();
  for (const std::string_view key : {keys::kSlaWaitingTimeShort, keys::kSlaWaitingTime}) {
    if (const auto limit = parse_go_duration(group.annotation(key)); limit && *limit > Duration(0))
      job.waiting_limit = limit;
  }
}

namespace {

// One that has less than nothing takes no other node's room.
ResourceList room_of(const NodeView& node) {
  ResourceList said = node.allocatable();
  said += {{std::string(resources::kCpu), parse_int(node.annotation(kLentCpu)).value_or(0)},
           {std::string(resources::kMemory), parse_int(node.annotation(kLentMemory)).value_or(0)}};
  ResourceList out;
  for (const auto& [name, amount] : said.amounts())
    out.set(name, std::max<std::int64_t>(amount, 0));
  return out;
}

}  // namespace

NodeSpec node_spec(const ObjectPtr& object, ResourceNames& names) {
  const NodeView node(object);
  return {object->name(),
          object->labels(),
          node.taints(),
          node.unschedulable(),
          Resource::from(room_of(node), names),
          node_usage(node.annotation(kNodeUsage)),
          images_on(node.document())};
}

QueueInfo queue_info(const ObjectPtr& object, ResourceNames& names) {
  const QueueView queue(object);
  QueueInfo out;
  out.name = QueueName(object->name());
  out.object = object;
  out.weight = queue.weight();
  out.priority = queue.priority();
  out.reclaimable = queue.reclaimable();
  out.fifo = queue.fifo();
  out.parent = queue.parent();
  out.state = queue.state();
  out.capability = Bounds::from(queue.capability(), names);
  out.deserved = Bounds::from(queue.deserved(), names);
  out.guarantee = Resource::from(queue.guarantee(), names);
  out.overcommit_per_mille = overcommit_per_mille(queue.annotation(keys::kOvercommitFactor));
  out.reported = queue.allocated();
  out.created = object->created().value_or(WallTime());
  return out;
}

PriorityClassInfo priority_class_info(const ObjectPtr& object) {
  const ObjectView view(object);
  return {int_at(view.document(), {"value"}).value_or(0),
          bool_at(view.document(), {"globalDefault"}).value_or(false)};
}

}  // namespace krater::scheduler
