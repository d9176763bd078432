// task-topology: roles of one job that belong together, or apart (annotations of the PodGroup;
// volcano.md 4.12). The pods of a job are sorted into buckets, and a bucket draws its pods to the
// node where most of it is.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/strings.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kAffinity = "volcano.sh/task-topology-affinity";
constexpr std::string_view kAntiAffinity = "volcano.sh/task-topology-anti-affinity";
constexpr std::string_view kOrder = "volcano.sh/task-topology-task-order";

using Roles = std::vector<std::string>;
using RolePair = std::pair<std::string, std::string>;

struct Rules {
  std::set<RolePair> together{}, apart{};      // both ways; a role with itself too
  std::map<std::string, int> rank{}, order{};  // by role: how its rules weigh; the user's order
};

struct Bucket {
  std::vector<std::uint32_t> waiting{};         // tasks
  std::map<std::string, std::int64_t> roles{};  // how many, placed ones included
  std::map<NodeSlot, std::int64_t> placed{};    // how many, by node
  std::int64_t weight = 0;  // of what waits: 1m cpu, 1Mi memory and 1 of anything else count alike
  Resource request{};       // of what waits
};

struct JobTopology {
  Rules rules{};
  std::vector<Bucket> buckets{};
  std::map<const TaskSpec*, std::size_t> bucket_of{};
  std::map<NodeSlot, std::map<std::string, std::int64_t>> roles_on{};
  std::int64_t largest = 0;
};

std::int64_t weight_of(const Resource& request) {
  std::int64_t out = 0;
  for (Dim d = 0; d < request.dims(); ++d) {
    if (d == kPods) continue;
    out += d == kMemory ? request.at(d) >> 20 : request.at(d);
  }
  return out;
}

// "a,b;c": groups of roles. nullopt when a role is unknown or twice in a group.
std::optional<std::vector<Roles>> groups_of(std::string_view text,
                                            const std::set<std::string>& known) {
  std::vector<Roles> out;
  for (const std::string_view group : split(text, ';')) {
    Roles roles;
    for (const std::string_view piece : split(group, ',')) {
      std::string role(trim(piece));
      if (role.empty()) continue;
      if (!known.contains(role) || std::find(roles.begin(), roles.end(), role) != roles.end())
        return std::nullopt;
      roles.push_back(std::move(role));
    }
    if (!roles.empty()) out.push_back(std::move(roles));
  }
  return out;
}

void add(const std::vector<Roles>& groups, int alone, int among, std::set<RolePair>& pairs,
         Rules& rules) {
  for (const Roles& group : groups) {
    for (const std::string& role : group) {
      int& rank = rules.rank[role];
      rank = std::max(rank, group.size() == 1 ? alone : among);
      for (const std::string& other : group) {
        if (group.size() == 1 || role != other) pairs.emplace(role, other);
      }
    }
  }
}

// nullopt: none are given, or they make no sense.
std::optional<Rules> rules_of(const JobInfo& job) {
  if (job.group == nullptr) return std::nullopt;
  const ObjectView group(job.group);
  const std::string_view affinity = group.annotation(kAffinity);
  const std::string_view apart = group.annotation(kAntiAffinity);
  const std::string_view order = group.annotation(kOrder);
  if (affinity.empty() && apart.empty() && order.empty()) return std::nullopt;
  std::set<std::string> known;
  for (const Task& task : job.tasks) known.insert(task.spec->role);
  const auto groups = groups_of(affinity, known), foes = groups_of(apart, known);
  const auto ordered = groups_of(order, known);
  if (!groups || !foes || !ordered) return std::nullopt;
  Rules out;
  add(*groups, 2, 3, out.together, out);
  add(*foes, 4, 1, out.apart, out);
  for (const Roles& list : *ordered) {
    for (std::size_t i = 0; i < list.size(); ++i)
      out.order[list[i]] = static_cast<int>(list.size() - i);
  }
  return out;
}

// How the role gets along with those.
std::int64_t liking(const Rules& rules, const std::string& role,
                    const std::map<std::string, std::int64_t>& others, bool only_dislike) {
  std::int64_t out = 0;
  for (const auto& [other, count] : others) {
    if (!only_dislike && rules.together.contains({role, other})) out += count;
    if (rules.apart.contains({role, other})) out -= count;
  }
  return out;
}

class TaskTopology final : public Plugin, public TaskOrderHook, public TaskScoreHook {
 public:
  explicit TaskTopology(std::int64_t weight) : weight_(weight) {}

  void open(const Session& session) override {
    for (JobId id = 0; id < session.job_count(); ++id) {
      const JobInfo& job = session.job(id);
      if (session.parked(id) || job.count(TaskStatus::Pending) == 0) continue;
      std::optional<Rules> rules = rules_of(job);
      if (!rules) continue;
      JobTopology& topology = jobs_.emplace(id, JobTopology{*std::move(rules)}).first->second;
      fill(job, topology);
      for (const auto& [task, bucket] : topology.bucket_of) owners_.emplace(task, &topology);
    }
  }

  // Who is in a bucket goes first; large buckets first; then as the user orders the roles.
  int task_order(const TaskSpec& a, const TaskSpec& b) const override {
    const auto left = place_of(a), right = place_of(b);
    const bool in_left = left.second != nullptr, in_right = right.second != nullptr;
    if (in_left != in_right) return in_left ? -1 : 1;
    if (!in_left || left.first != right.first) return 0;
    const JobTopology& job = *left.first;
    const Bucket &mine = *left.second, &theirs = *right.second;
    if (mine.waiting.size() != theirs.waiting.size())
      return mine.waiting.size() > theirs.waiting.size() ? -1 : 1;
    if (&mine != &theirs) return &mine < &theirs ? -1 : 1;
    const auto rank = [&](const TaskSpec& task) {
      const auto order = job.rules.order.find(task.role);
      const auto weight = job.rules.rank.find(task.role);
      return std::pair(order == job.rules.order.end() ? 0 : order->second,
                       weight == job.rules.rank.end() ? 0 : weight->second);
    };
    const auto mine_rank = rank(a), their_rank = rank(b);
    return mine_rank > their_rank ? -1 : mine_rank < their_rank ? 1 : 0;
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    const auto job = jobs_.find(task.job);
    if (job == jobs_.end()) return {};
    const TaskSpec& spec = *session.task(task).spec;
    const auto bucket = job->second.bucket_of.find(&spec);
    if (bucket == job->second.bucket_of.end()) return {};
    return {"topology " + std::to_string(task.job) + "/" + std::to_string(bucket->second) + "/" +
                spec.role,
            true};
  }

  std::int64_t score_task(const Session& session, TaskRef task, NodeSlot node) const override {
    const JobTopology& job = jobs_.at(task.job);
    const TaskSpec& spec = *session.task(task).spec;
    const Bucket& bucket = job.buckets[job.bucket_of.at(&spec)];
    const Resource room = session.node(node).idle + session.node(node).releasing;
    if (!spec.shape->request.fits_in(room)) return 0;
    const auto here = bucket.placed.find(node);
    std::int64_t score = here == bucket.placed.end() ? 0 : here->second;
    if (const auto roles = job.roles_on.find(node); roles != job.roles_on.end())
      score += std::min<std::int64_t>(liking(job.rules, spec.role, roles->second, true), 0);
    score += together_fitting(session, task, bucket, room);
    return job.largest == 0 ? 0 : scale(100 * kPoint * weight_, score, job.largest);
  }

  void placed(const Session& session, JobId id, const TaskSpec& task) override {
    move(session, id, task, 1);
  }
  void unplaced(const Session& session, JobId id, const TaskSpec& task) override {
    move(session, id, task, -1);
  }

 private:
  std::pair<const JobTopology*, const Bucket*> place_of(const TaskSpec& task) const {
    const auto owner = owners_.find(&task);
    if (owner == owners_.end()) return {nullptr, nullptr};
    return {owner->second, &owner->second->buckets[owner->second->bucket_of.at(&task)]};
  }

  static void fill(const JobInfo& job, JobTopology& out) {
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
      if (out.rules.rank.contains(job.tasks[t].spec->role)) tasks.push_back(t);
    }
    const auto rank = [&](std::uint32_t t) {
      const std::string& role = job.tasks[t].spec->role;
      const auto order = out.rules.order.find(role);
      // Placed ones first: their nodes are given.
      return std::tuple(job.tasks[t].node != kNoNode,
                        order == out.rules.order.end() ? 0 : order->second,
                        out.rules.rank.at(role));
    };
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); });
    std::map<NodeSlot, std::size_t> by_node;
    for (const std::uint32_t t : tasks) add_to_bucket(job, t, by_node, out);
  }

  static void add_to_bucket(const JobInfo& job, std::uint32_t t,
                            std::map<NodeSlot, std::size_t>& by_node, JobTopology& out) {
    const Task& task = job.tasks[t];
    std::optional<std::size_t> chosen;
    std::int64_t best = 0;
    if (task.node != kNoNode) {
      if (const auto known = by_node.find(task.node); known != by_node.end())
        chosen = known->second;
    } else {
      for (std::size_t i = 0; i < out.buckets.size(); ++i) {
        const std::int64_t like = liking(out.rules, task.spec->role, out.buckets[i].roles, false);
        if (like < 0) continue;
        if (!chosen || like > best ||
            (like == best && out.buckets[i].weight < out.buckets[*chosen].weight)) {
          chosen = i;
          best = like;
        }
      }
    }
    if (!chosen) {
      chosen = out.buckets.size();
      out.buckets.emplace_back();
      if (task.node != kNoNode) by_node.emplace(task.node, *chosen);
    }
    Bucket& bucket = out.buckets[*chosen];
    ++bucket.roles[task.spec->role];
    out.bucket_of.emplace(task.spec.get(), *chosen);
    if (task.node != kNoNode) {
      ++bucket.placed[task.node];
      ++out.roles_on[task.node][task.spec->role];
    } else {
      bucket.waiting.push_back(t);
      bucket.weight += weight_of(task.spec->shape->request);
      bucket.request += task.spec->shape->request;
    }
    std::int64_t size = static_cast<std::int64_t>(bucket.waiting.size());
    for (const auto& [node, count] : bucket.placed) size += count;
    out.largest = std::max(out.largest, size);
  }

  // How many of those of the bucket who wait would find room there beside the task, itself
  // included.
  static std::int64_t together_fitting(const Session& session, TaskRef task, const Bucket& bucket,
                                       const Resource& room) {
    auto count = static_cast<std::int64_t>(bucket.waiting.size());
    Resource rest = bucket.request;
    for (const std::uint32_t t : bucket.waiting) {
      if (rest.fits_in(room)) break;
      if (t == task.task) continue;
      rest -= session.task({task.job, t}).spec->shape->request;
      --count;
    }
    return count;
  }

  void move(const Session& session, JobId id, const TaskSpec& task, int sign) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;
    const NodeSlot node = session.pod_moves().back().node;
    job->second.roles_on[node][task.role] += sign;
    const auto place = job->second.bucket_of.find(&task);
    if (place == job->second.bucket_of.end()) return;
    Bucket& bucket = job->second.buckets[place->second];
    bucket.placed[node] += sign;
    const std::vector<Task>& tasks = session.job(id).tasks;
    const auto self = std::find_if(tasks.begin(), tasks.end(),
                                   [&](const Task& one) { return one.spec.get() == &task; });
    const auto t = static_cast<std::uint32_t>(self - tasks.begin());
    if (sign > 0) {
      std::erase(bucket.waiting, t);
      bucket.request -= task.shape->request;
      bucket.weight -= weight_of(task.shape->request);
    } else {
      bucket.waiting.push_back(t);
      bucket.request += task.shape->request;
      bucket.weight += weight_of(task.shape->request);
    }
  }

  std::int64_t weight_;
  std::map<JobId, JobTopology> jobs_;
  std::unordered_map<const TaskSpec*, const JobTopology*> owners_;  // looked up, never walked
};

}  // namespace

Result<PluginFactory> configure_task_topology(Arguments& arguments, const EnableFlags& flags) {
  TRY_ASSIGN(const std::int64_t weight, arguments.integer("task-topology.weight", 1));
  return PluginFactory([weight](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<TaskTopology>(weight), enabled);
  });
}

}  // namespace krater::scheduler
