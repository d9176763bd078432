#include "scheduler/info.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace krater::scheduler {

std::optional<std::int64_t> trailing_number(std::string_view name) {
  if (std::count(name.begin(), name.end(), '-') < 2) return std::nullopt;
  return parse_int(name.substr(name.rfind('-') + 1));
}

std::string_view to_text(TaskStatus status) {
  switch (status) {
    case TaskStatus::Pending:
      return "Pending";
    case TaskStatus::Allocated:
      return "Allocated";
    case TaskStatus::Pipelined:
      return "Pipelined";
    case TaskStatus::Binding:
      return "Binding";
    case TaskStatus::Bound:
      return "Bound";
    case TaskStatus::Running:
      return "Running";
    case TaskStatus::Releasing:
      return "Releasing";
    case TaskStatus::Succeeded:
      return "Succeeded";
    case TaskStatus::Failed:
      return "Failed";
    case TaskStatus::Unknown:
      return "Unknown";
  }
  CHECK(false);
}

bool is_allocated(TaskStatus status) {
  return status == TaskStatus::Allocated || status == TaskStatus::Binding ||
         status == TaskStatus::Bound || status == TaskStatus::Running;
}

bool uses_node(TaskStatus status) {
  return is_allocated(status) || status == TaskStatus::Releasing ||
         status == TaskStatus::Pipelined || status == TaskStatus::Unknown;
}

bool holds_place(TaskStatus status) {
  return status == TaskStatus::Bound || status == TaskStatus::Running;
}

bool PodShape::best_effort() const {
  for (Dim d = 0; d < request.dims(); ++d) {
    if (d != kPods && request.at(d) > 0) return false;
  }
  return true;
}

std::int64_t JobInfo::allocated_tasks() const {
  return count(TaskStatus::Allocated) + count(TaskStatus::Binding) + count(TaskStatus::Bound) +
         count(TaskStatus::Running);
}

std::int64_t JobInfo::ready_tasks() const {
  return allocated_tasks() + count(TaskStatus::Succeeded);
}

std::int64_t JobInfo::valid_tasks() const {
  return ready_tasks() + count(TaskStatus::Pipelined) + count(TaskStatus::Pending);
}

bool JobInfo::roles_bind() const {
  std::int64_t sum = 0;
  for (const auto& [role, minimum] : role_minimums) sum += minimum;
  return min_member >= sum;
}

std::map<std::string, std::int64_t> JobInfo::by_role(bool (*counted)(const Task&)) const {
  std::map<std::string, std::int64_t> out;
  for (const Task& task : tasks) {
    if (counted(task)) ++out[task.spec->role];
  }
  return out;
}

Resource JobInfo::gated_requests() const {
  Resource out;
  for (const Task& task : tasks) {
    const TaskSpec& spec = *task.spec;
    if (task.status == TaskStatus::Pending && spec.gated && !spec.held_by_queue)
      out += spec.shape->request;
  }
  return out;
}

Resource JobInfo::wanted_min() const {
  if (!min_resources) return {};
  Resource out = (*min_resources - allocated).clamped();
  if (count(TaskStatus::Pending) > 0) out = (out - gated_requests()).clamped();
  // Only what minResources names is reserved.
  for (Dim d = 0; d < out.dims(); ++d) {
    if (min_resources->at(d) == 0) out.set(d, 0);
  }
  return out;
}

Resource JobInfo::admitted_in_queue() const {
  if (fragmented || displaced) return {};
  const bool admitted = phase == PodGroupPhase::Inqueue ||
                        (phase == PodGroupPhase::Running && allocated_tasks() >= min_member);
  return admitted ? wanted_min() : Resource();
}

Resource JobInfo::admitted_in_cluster() const {
  if (!group || !min_resources || fragmented || displaced) return {};
  if (phase == PodGroupPhase::Inqueue) return (*min_resources - gated_requests()).clamped();
  if (phase == PodGroupPhase::Running && allocated_tasks() >= min_member)
    return (*min_resources - allocated).clamped();
  return {};
}

bool JobInfo::open() const {
  return count(TaskStatus::Pending) + count(TaskStatus::Allocated) + count(TaskStatus::Pipelined) >
             0 ||
         (group && is_pending()) || is_bare();
}

bool JobInfo::is_bare() const {
  return group && phase == PodGroupPhase::Inqueue && tasks.empty() && min_member > 0;
}

Resource JobInfo::elastic() const {
  return min_resources ? (allocated - *min_resources).clamped() : allocated;
}

bool JobInfo::sub_groups_valid() const {
  return !sub_group_policies ||
         minimums_met(*sub_group_policies, sub_groups, [](const SubGroup&) { return true; });
}
bool JobInfo::sub_groups_ready() const {
  return !sub_group_policies || minimums_met(*sub_group_policies, sub_groups,
                                             [](const SubGroup& one) { return one.is_ready(); });
}
bool JobInfo::sub_groups_pipelined() const {
  return !sub_group_policies ||
         minimums_met(*sub_group_policies, sub_groups,
                      [](const SubGroup& one) { return one.is_pipelined(); });
}

std::uint32_t JobInfo::sub_group_of(const TaskSpec& task) {
  SubGroup wanted;
  for (std::uint32_t p = 0; p < sub_group_policies->size(); ++p) {
    const SubGroupPolicy& policy = (*sub_group_policies)[p];
    auto values = policy.values_of(task.pod->labels());
    if (!values) continue;
    wanted.policy = p;
    wanted.values = *std::move(values);
    wanted.size = policy.size;
    break;
  }
  for (std::uint32_t g = 0; g < sub_groups.size(); ++g) {
    if (sub_groups[g].policy == wanted.policy && sub_groups[g].values == wanted.values) return g;
  }
  sub_groups.push_back(std::move(wanted));
  return static_cast<std::uint32_t>(sub_groups.size() - 1);
}

void JobInfo::regroup() {
  sub_groups.clear();
  if (!sub_group_policies) return;
  for (Task& task : tasks) {
    task.sub_group = sub_group_of(*task.spec);
    count_in_sub_group(task, 1);
  }
}

void JobInfo::count_in_sub_group(const Task& task, std::int64_t sign) {
  SubGroup& its = sub_groups[task.sub_group];
  its.tasks += sign;
  if (is_allocated(task.status) || task.status == TaskStatus::Succeeded) its.ready += sign;
  if (task.status == TaskStatus::Pipelined) its.waiting += sign;
  if (task.status == TaskStatus::Pending && task.spec->shape->best_effort())
    its.best_effort += sign;
}

void JobInfo::count_in(const Task& task, std::int64_t sign) {
  if (sub_group_policies) count_in_sub_group(task, sign);
  counts[static_cast<std::size_t>(task.status)] += sign;
  const Resource& request = task.spec->shape->request;
  if (is_allocated(task.status)) sign > 0 ? allocated += request : allocated -= request;
  if (task.status != TaskStatus::Pending) return;
  sign > 0 ? pending += request : pending -= request;
  if (task.spec->shape->best_effort()) pending_best_effort += sign;
  if (task.spec->queue_gate) pending_queue_gates += sign;
}

void JobInfo::add(Task task) {
  if (sub_group_policies) task.sub_group = sub_group_of(*task.spec);
  count_in(task, 1);
  const auto place = std::lower_bound(
      tasks.begin(), tasks.end(), task.spec->name(),
      [](const Task& one, const std::string& name) { return one.spec->name() < name; });
  tasks.insert(place, std::move(task));
}

Task* JobInfo::find(std::string_view name) {
  const auto place = std::lower_bound(
      tasks.begin(), tasks.end(), name,
      [](const Task& one, std::string_view wanted) { return one.spec->name() < wanted; });
  return place != tasks.end() && place->spec->name() == name ? &*place : nullptr;
}

void JobInfo::remove(std::string_view name) {
  Task* task = find(name);
  CHECK(task != nullptr);
  count_in(*task, -1);
  tasks.erase(tasks.begin() + (task - tasks.data()));
  if (tasks.empty()) sub_groups.clear();
}

void JobInfo::set_status(Task& task, TaskStatus status, NodeSlot node) {
  count_in(task, -1);
  task.status = status;
  task.node = node;
  count_in(task, 1);
}

bool NodeInfo::port_free(const HostPort& port, bool future) const {
  return std::none_of(host_ports.begin(), host_ports.end(), [&](const auto& entry) {
    const HostPort& taken = entry.first;
    if (future) {
      const auto leaving = leaving_ports.find(taken);
      if (leaving != leaving_ports.end() && leaving->second >= entry.second) return false;
    }
    return taken.port == port.port && taken.protocol == port.protocol &&
           (taken.ip == port.ip || taken.ip == "0.0.0.0" || port.ip == "0.0.0.0");
  });
}

void NodeInfo::book(const PodShape& shape, TaskStatus status, int sign) {
  if (!uses_node(status)) return;
  const auto move = [&](Resource& amount, bool up) {
    up ? amount += shape.request : amount -= shape.request;
  };
  const bool in = sign > 0;
  tasks += sign;
  if (status == TaskStatus::Pipelined) {
    move(pipelined, in);
  } else {
    move(idle, !in);
    move(used, in);
    if (status == TaskStatus::Releasing) move(releasing, in);
  }
  for (const auto& claim : shape.claims) {
    if (int& users = claims[claim]; (users += sign) == 0) claims.erase(claim);
  }
  for (const HostPort& port : shape.host_ports) {
    if (int& users = host_ports[port]; (users += sign) == 0) host_ports.erase(port);
    if (status != TaskStatus::Releasing) continue;
    if (int& users = leaving_ports[port]; (users += sign) == 0) leaving_ports.erase(port);
  }
}

bool created_before(const TaskSpec& a, const TaskSpec& b) {
  if (a.number && b.number && *a.number != *b.number) return *a.number < *b.number;
  if (a.created != b.created) return a.created < b.created;
  return a.name() < b.name();
}

}  // namespace krater::scheduler
