// How long scheduling cycles take: `scheduler_bench [nodes] [pods] [pods per gang]` (1000, 10000,
// 5). Prints the time to read the cluster in, of one cycle that places everything, of the one that
// reports it, of one with nothing left to do, and of one in which 20 small gangs arrive at a busy
// cluster.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "model/keys.h"
#include "scheduler/cache.h"
#include "scheduler/report.h"
#include "scheduler/volcano_metrics.h"

namespace krater::scheduler {
namespace {

std::int64_t revision = 0;

ObjectPtr stored(const Kind& kind, Json object) {
  const std::string name = text_at(object, {"metadata", "name"});
  set_path(object, {"metadata", "uid"}, Json(name));
  ++revision;
  return *Object::parse(ObjectKey::of(kind, "d", name), Revision(revision),
                        std::make_shared<const std::string>(to_json(object)));
}

void add_gang(Cache& cache, const std::string& name, int members) {
  Json group = new_object(kinds::kPodGroup, "d", name);
  set_path(group, {"spec", "minMember"}, Json(members));
  cache.set_group(stored(kinds::kPodGroup, std::move(group)));
  for (int m = 0; m < members; ++m) {
    Json pod = new_object(kinds::kPod, "d", name + "-w-" + std::to_string(m));
    set_path(pod, {"spec", "schedulerName"}, Json("volcano"));
    set_path(pod, {"metadata", "annotations", keys::kGroupName}, Json(name));
    Json container(boost::json::object_kind);
    set_path(container, {"resources", "requests", "cpu"}, Json("1"));
    set_path(container, {"resources", "requests", "memory"}, Json("4Gi"));
    set_path(pod, {"spec", "containers"}, JsonArray{std::move(container)});
    cache.set_pod(stored(kinds::kPod, std::move(pod)));
  }
}

// One cycle as Scheduler runs it, up to the binds; these are taken as done.
std::size_t cycle(Cache& cache, const Config& config, VolcanoMetrics& metrics) {
  std::vector<GangBind> binds;
  {
    Session session(cache.snapshot(Scope::Open), config, "bench", WallTime());
    for (const ActionEntry* action : config.actions) action->execute(session);
    session.close();
    metrics.take(session);
    binds = gang_binds(session);
    const std::set<JobKey> changed = cache.take_changed_jobs();
    for (const JobReport& one : report(
             session, [&](const JobKey& key) { return changed.contains(key); },
             [](const JobKey&) { return false; })) {
      if (one.status) cache.set_phase(one.key, one.status->phase);
    }
  }
  std::size_t pods = 0;
  for (const GangBind& gang : binds) {
    for (const GangBind::Member& member : gang.members) {
      pods +=
          cache.assume(gang.job, member.task->name(), member.task->pod->uid(), member.slot) ? 1 : 0;
    }
  }
  return pods;
}

template <typename Work>
void timed(const char* what, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t count = work();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%-28s %8zu pods %10.3f ms\n", what, count,
      static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()) /
          1000);
}

int run(int nodes, int pods, int members) {
  const Result<Config> config = parse_config(default_config_text());
  if (!config) return 1;
  Cache cache;
  VolcanoMetrics metrics;
  timed("read in", [&] {
    cache.set_queue(stored(kinds::kQueue, new_object(kinds::kQueue, "", "default")));
    for (int n = 0; n < nodes; ++n) {
      Json node = new_object(kinds::kNode, "", "node-" + std::to_string(n));
      Json room(boost::json::object_kind);
      for (const auto& [name, amount] :
           {std::pair("cpu", "32"), std::pair("memory", "256Gi"), std::pair("pods", "110")}) {
        room.get_object()[name] = amount;
      }
      set_path(node, {"status", "allocatable"}, std::move(room));
      cache.set_node(stored(kinds::kNode, std::move(node)));
    }
    for (int p = 0; p < pods; p += members) add_gang(cache, "g" + std::to_string(p), members);
    return static_cast<std::size_t>(pods);
  });
  timed("cycle: all pending", [&] { return cycle(cache, *config, metrics); });
  timed("cycle: all just bound", [&] { return cycle(cache, *config, metrics); });
  timed("cycle: nothing to do", [&] { return cycle(cache, *config, metrics); });
  for (int g = 0; g < 20; ++g) add_gang(cache, "ray" + std::to_string(g), 3);
  timed("cycle: 20 gangs of 3 arrive", [&] { return cycle(cache, *config, metrics); });
  return 0;
}

}  // namespace
}  // namespace krater::scheduler

int main(int argc, char** argv) {
  const auto argument = [&](int at, int fallback) {
    return argc > at ? std::atoi(argv[at]) : fallback;
  };
  return krater::scheduler::run(argument(1, 1000), argument(2, 10'000),
                                std::max(1, argument(3, 5)));
}
