#include "controllers/vcjob/needs.h"

#include <algorithm>
#include <map>

#include "controllers/vcjob/children.h"
#include "controllers/vcjob/tally.h"

namespace krater::controllers::vcjob {
namespace {

std::int64_t less(std::int64_t number, std::int64_t done) {
  return std::max<std::int64_t>(number - done, 0);
}

// What of a task is done and gone, without indexes that a pod holds (again).
struct Done {
  IndexSet indexes{};
  std::int64_t count = 0;
  std::map<std::int64_t, std::int64_t> of_partition{};  // where only a part of it is done
  std::int64_t whole_partitions = 0;
};

// However many pods are done, only partitions at the ends of a run can be done in part.
void count_partitions(std::int64_t size, std::int64_t replicas, Done& done) {
  for (const auto& [first, last] : done.indexes.intervals()) {
    const std::int64_t end = std::min(last + 1, replicas);
    for (std::int64_t at = first; at < end;) {
      const std::int64_t partition = at / size;
      const std::int64_t edge = std::min((partition + 1) * size, end);
      if (at % size == 0 && edge - at == size) {
        const std::int64_t whole = (end - at) / size;
        done.whole_partitions += whole;
        at += whole * size;
      } else {
        done.of_partition[partition] += edge - at;
        at = edge;
      }
    }
  }
}

std::map<std::string, Done> done_by_task(const Observed& seen) {
  std::map<std::string, Done> out;
  for (const VolcanoTask& task : seen.tasks) {
    Done& done = out[task.name];
    done.indexes = seen.status.succeeded_and_gone(task.name);
    done.count = done.indexes.count_below(task.replicas);
    if (task.partition && task.partition->size > 0 && done.count > 0)
      count_partitions(task.partition->size, task.replicas, done);
  }
  for (const PodFact& pod : seen.pods) {
    Done& done = out[pod.task];
    if (!seen.surplus(pod) && done.indexes.contains(pod.index)) --done.count;
  }
  return out;
}

// The smallest remainder is asked of all: there is one number for them.
PartitionNeeds partitions_left(const PartitionPolicy& policy, const Done& done) {
  PartitionNeeds out{policy.size, less(policy.minimum, done.whole_partitions)};
  for (const auto& [partition, number] : done.of_partition) {
    if (number < policy.size)
      out.size = std::min(out.size, policy.size - number);
    else
      out.minimum = less(out.minimum, 1);
  }
  return out;
}

// Its pods are not made before other tasks are ready, which must not wait for them.
bool held_back(const Observed& seen, const VolcanoTask& task) {
  return !may_start(seen, seen.status, task) &&
         std::ranges::none_of(seen.pods, [&](const PodFact& pod) { return pod.task == task.name; });
}

// The tasks' own minima count only where the job wants all of them, as Volcano's gang plugin has
// it.
bool minima_count(const Observed& seen) {
  std::int64_t sum = 0;
  for (const VolcanoTask& task : seen.tasks) sum += task.minimum();
  return seen.job.min_available() >= sum;
}

}  // namespace

GangNeeds needs_of(const Observed& seen) {
  GangNeeds out;
  const std::map<std::string, Done> done = done_by_task(seen);
  std::int64_t all_done = 0, minima = 0;
  for (const VolcanoTask& task : seen.tasks) {
    const std::int64_t mine = done.at(task.name).count;
    TaskNeeds needs{&task, less(task.replicas, mine), less(task.minimum(), mine), {}, {}};
    if (task.partition) {
      needs.partitions = partitions_left(*task.partition, done.at(task.name));
      if (held_back(seen, task)) needs.partitions->minimum = 0;
    }
    if (task.min_available) needs.min_available = less(*task.min_available, mine);
    all_done += mine;
    minima += needs.minimum;
    out.tasks.push_back(needs);
  }
  const std::int64_t least = seen.job.min_available();
  out.min_member = std::max(least - all_done, std::min<std::int64_t>(least, 1));
  // More of one task may be done than its minimum; the others' stand.
  if (minima_count(seen)) out.min_member = std::max(out.min_member, minima);
  return out;
}

bool is_whole(const Observed& seen) {
  const Counts counts = count(seen, seen.status, {});
  if (counts.running + counts.succeeded < seen.job.min_available()) return false;
  return !minima_count(seen) || std::ranges::all_of(seen.tasks, [&](const VolcanoTask& task) {
    return counts.of(task.name, PodPhase::Running) + counts.of(task.name, PodPhase::Succeeded) >=
           task.minimum();
  });
}

}  // namespace krater::controllers::vcjob
