#include "scheduler/testing/random_world.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::scheduler {
namespace {

bool chance(Rng& rng, std::int64_t one_in) {
  return random_number(rng, 1, one_in) == 1;
}
std::int64_t cores(Rng& rng, std::int64_t least, std::int64_t most) {
  return random_number(rng, least, most) * 1000;
}
std::int64_t gibibytes(Rng& rng, std::int64_t least, std::int64_t most) {
  return random_number(rng, least, most) << 30;
}

naive::Queue random_queue(Rng& rng, std::string name) {
  naive::Queue out{std::move(name)};
  if (!chance(rng, 3)) out.deserved[naive::kCpu] = cores(rng, 0, 10);
  if (chance(rng, 3)) out.deserved[naive::kMemory] = gibibytes(rng, 0, 10);
  if (chance(rng, 4)) out.capability[naive::kCpu] = cores(rng, 1, 12);
  if (chance(rng, 6)) out.capability[naive::kMemory] = gibibytes(rng, 1, 12);
  if (chance(rng, 4)) out.guarantee[naive::kCpu] = cores(rng, 1, 4);
  if (chance(rng, 8)) out.guarantee[naive::kMemory] = gibibytes(rng, 1, 4);
  out.weight = random_number(rng, 1, 4);
  out.priority = chance(rng, 5) ? 5 : 0;
  out.reclaimable = !chance(rng, 5);
  return out;
}

JsonObject quantities_of(const std::int64_t* cpu, const std::int64_t* memory) {
  JsonObject out;
  if (cpu != nullptr) out["cpu"] = std::to_string(*cpu) + "m";
  if (memory != nullptr) out["memory"] = std::to_string(*memory);
  return out;
}
JsonObject quantities_of(const naive::Wishes& wishes) {
  const auto value = [&](std::size_t kind) { return wishes[kind] ? &*wishes[kind] : nullptr; };
  return quantities_of(value(naive::kCpu), value(naive::kMemory));
}
JsonObject quantities_of(const naive::Amounts& amounts) {
  const auto value = [&](std::size_t kind) { return amounts[kind] > 0 ? &amounts[kind] : nullptr; };
  return quantities_of(value(naive::kCpu), value(naive::kMemory));
}

std::string text(const naive::Amounts& amounts) {
  return std::to_string(amounts[naive::kCpu]) + "m/" +
         std::to_string(amounts[naive::kMemory] >> 20) + "Mi";
}
std::string text(const naive::Wishes& wishes) {
  const auto& [cpu, memory, pods] = wishes;
  return (cpu ? std::to_string(*cpu) + "m" : "-") + "/" +
         (memory ? std::to_string(*memory >> 20) + "Mi" : "-");
}

}  // namespace

std::int64_t random_number(Rng& rng, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(most - least + 1));
}

naive::World random_world(Rng& rng, const WorldSize& size, const naive::Rules& rules) {
  naive::World out{rules};
  const std::int64_t nodes = random_number(rng, 1, size.nodes),
                     queues = random_number(rng, 1, size.queues),
                     jobs = random_number(rng, size.least_jobs, size.jobs);
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int64_t pods = chance(rng, 4) ? random_number(rng, 1, 4) : 110;
    out.nodes.push_back({"n" + std::to_string(i), {cores(rng, 1, 8), gibibytes(rng, 1, 8), pods}});
  }
  const std::int64_t groups = rules.tree ? random_number(rng, 0, 2) : 0;
  for (std::int64_t i = 0; i < groups; ++i) {
    out.queues.push_back(random_queue(rng, "p" + std::to_string(i)));
    if (i > 0 && chance(rng, 2)) out.queues.back().parent = "p0";
  }
  for (std::int64_t i = 0; i < queues; ++i) {
    out.queues.push_back(random_queue(rng, "q" + std::to_string(i)));
    const std::int64_t parent = random_number(rng, 0, groups);
    if (parent > 0) out.queues.back().parent = "p" + std::to_string(parent - 1);
  }
  for (std::int64_t i = 0; i < jobs; ++i) {
    naive::Job job{"j" + std::to_string(i),
                   "q" + std::to_string(random_number(rng, 0, queues - 1))};
    job.pods = random_number(rng, 1, chance(rng, 2) ? 2 : 6);
    job.min = random_number(rng, 1, job.pods);
    job.priority = random_number(rng, 0, 2) * 10;
    job.each = {random_number(rng, 1, 6) * 500, random_number(rng, 0, 3) << 29, 1};
    out.jobs.push_back(std::move(job));
  }
  return out;
}

naive::State random_state(Rng& rng, const naive::World& world) {
  naive::State out;
  for (const naive::Job& job : world.jobs) {
    if (chance(rng, 3)) continue;
    naive::Placement trial = out.placed;
    const std::int64_t wanted = random_number(rng, job.min, job.pods);
    std::int64_t found = 0;
    const std::int64_t first = random_number(rng, 0, std::ssize(world.nodes) - 1);
    for (std::int64_t i = 0; i < std::ssize(world.nodes); ++i) {
      const naive::Node& node =
          world.nodes[static_cast<std::size_t>((first + i) % std::ssize(world.nodes))];
      while (found < wanted &&
             naive::fits_in(naive::plus(used_on(world, trial, node), job.each), node.all))
        trial[pod_name(job, found++)] = node.name;
    }
    if (found < job.min) continue;
    if (chance(rng, 8)) trial.erase(pod_name(job, 0));
    out.placed = std::move(trial);
  }
  for (const auto& [pod, node] : out.placed) {
    if (chance(rng, 4)) out.bound.insert(pod);
  }
  return out;
}

std::string shown(const naive::World& world) {
  std::string out;
  for (const naive::Node& node : world.nodes)
    out += "\nnode " + node.name + " " + text(node.all) + " pods " +
           std::to_string(node.all[naive::kPods]);
  for (const naive::Queue& queue : world.queues) {
    out += "\nqueue " + queue.name + (queue.parent.empty() ? "" : " below " + queue.parent) +
           " deserved " + text(queue.deserved) + " capability " + text(queue.capability) +
           " guarantee " + text(queue.guarantee) + " weight " + std::to_string(queue.weight) +
           " priority " + std::to_string(queue.priority) +
           (queue.reclaimable ? "" : " not reclaimable");
  }
  for (const naive::Job& job : world.jobs) {
    out += "\njob " + job.name + " in " + job.queue + " priority " + std::to_string(job.priority) +
           ", " + std::to_string(job.min) + " of " + std::to_string(job.pods) + " with " +
           text(job.each);
  }
  return out + "\n" + config_of(world.rules, "");
}

std::string shown(const naive::State& state) {
  std::string out;
  for (const auto& [pod, node] : state.placed)
    out += "\n" + pod + (state.bound.contains(pod) ? " bound to " : " on ") + node +
           (state.promised.contains(pod) ? " later" : "");
  return out;
}

std::string shown(const naive::Claim& claim) {
  std::string out = (claim.across_queues ? "reclaim for " : "preempt for ") + claim.job + ": " +
                    join(claim.victims, ", ") + " leave;";
  for (const auto& [pod, node] : claim.promised) out += " " + pod + " to " + node;
  return out;
}

std::string config_of(const naive::Rules& rules, std::string_view actions) {
  const std::string gang_votes = rules.gangs_keep ? "true" : "false";
  const std::string queues_vote = rules.queues_asked ? "true" : "false";
  return "actions: \"" + std::string(actions) +
         "\"\nbehaviors: {emptyIntersectionIsNobody: true}\ntiers:\n- plugins:\n"
         "  - {name: priority}\n  - {name: conformance}\n  - {name: gang, enablePreemptable: " +
         gang_votes + ", enableReclaimable: " + gang_votes + "}\n" +
         (rules.drf ? "  - {name: drf}\n" : "") +
         (rules.proportion ? "  - {name: proportion" : "  - {name: capacity") +
         ", enableReclaimable: " + queues_vote + (rules.tree ? ", enableHierarchy: true" : "") +
         "}\n- plugins: [{name: predicates}, {name: binpack}]\n";
}

JsonObject frame_of(const naive::World& world) {
  JsonArray nodes, queues, classes;
  for (const naive::Node& node : world.nodes) {
    JsonObject one = quantities_of(node.all);
    one["name"] = node.name;
    one["pods"] = node.all[naive::kPods];
    nodes.push_back(std::move(one));
  }
  for (const naive::Queue& queue : world.queues) {
    JsonObject one{{"name", queue.name},
                   {"weight", queue.weight},
                   {"priority", queue.priority},
                   {"reclaimable", queue.reclaimable}};
    if (!queue.parent.empty()) one["parent"] = queue.parent;
    one["deserved"] = quantities_of(queue.deserved);
    one["capability"] = quantities_of(queue.capability);
    one["guarantee"] = quantities_of(queue.guarantee);
    queues.push_back(std::move(one));
  }
  for (const std::int64_t value : {0, 10, 20})
    classes.push_back(JsonObject{{"name", "p" + std::to_string(value)}, {"value", value}});
  JsonObject out;
  out["nodes"] = std::move(nodes);
  out["queues"] = std::move(queues);
  out["classes"] = std::move(classes);
  return out;
}

JsonObject things_of(const naive::Job& job, const naive::State& state) {
  JsonObject group{{"name", job.name},
                   {"min", job.min},
                   {"queue", job.queue},
                   {"priorityClass", "p" + std::to_string(job.priority)}};
  group["minResources"] = quantities_of(naive::times(job.each, job.min));
  JsonArray pods;
  for (std::int64_t i = 0; i < job.pods; ++i) {
    JsonObject pod = quantities_of(job.each);
    const std::string name = naive::pod_name(job, i);
    pod["name"] = name;
    pod["group"] = job.name;
    if (const auto place = state.placed.find(name); place != state.placed.end()) {
      pod["node"] = place->second;
      pod["phase"] = state.bound.contains(name) ? "Pending" : "Running";
      group["phase"] = "Running";
    }
    pods.push_back(std::move(pod));
  }
  JsonObject out;
  out["groups"] = JsonArray{std::move(group)};
  out["pods"] = std::move(pods);
  return out;
}

}  // namespace krater::scheduler
