// usage: keeps pods off nodes that are busy by their own account, and prefers idle ones
// (volcano.md 4.12). Pods that a node's figures do not show yet are counted by estimate.
#include <algorithm>
#include <map>

#include "base/quantity.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr Duration kFresh = std::chrono::minutes(5);    // older figures say nothing
constexpr Duration kUnseen = std::chrono::seconds(30);  // a pod younger than that is not in them
constexpr std::int64_t kMille = 1000;

struct UsageArgs {
  std::int64_t weight = 5, cpu_weight = 1, memory_weight = 1;
  std::int64_t cpu_threshold = 80, memory_threshold = 80;                      // percent
  std::int64_t request_ratio = 700, risk_threshold = 600, risk_factor = 1200;  // per mille
  std::int64_t idle_cpu = 250,
               idle_memory = std::int64_t{200} << 20;  // of pods that ask for nothing
};

class Usage final : public Plugin, public TaskFilterHook, public TaskScoreHook {
 public:
  explicit Usage(const UsageArgs& args) : args_(args) {}

  void open(const Session& session) override {
    now_ = session.now();
    for (const NodeSlot slot : session.node_order())
      figures_ = figures_ || usage_of(session, slot) != nullptr;
    if (!figures_) return;
    for (const PlacedPod& pod : session.placed_pods()) {
      const std::optional<WallTime>& started = pod.task->started;
      if (pod.leaving || (started && *started + kUnseen <= now_)) continue;
      add(session, pod.node, *pod.task, 1);
    }
  }
  void placed(const Session& session, JobId, const TaskSpec& task) override {
    if (figures_) add(session, session.pod_moves().back().node, task, 1);
  }
  void unplaced(const Session& session, JobId, const TaskSpec& task) override {
    if (figures_) add(session, session.pod_moves().back().node, task, -1);
  }
  // New figures come without a word.
  void close(Session& session) override {
    for (JobId id = 0; figures_ && id < session.job_count(); ++id) {
      if (!session.parked(id) && session.job(id).open()) session.note(id).put_off = true;
    }
  }

  Likeness likeness(const Session&, TaskRef) const override {
    return figures_ ? Likeness{"usage"} : Likeness{};
  }
  std::string reject_task(const Session& session, TaskRef, NodeSlot node, bool) const override {
    const NodeUsage* usage = usage_of(session, node);
    if (usage == nullptr) return {};
    if (usage->cpu > args_.cpu_threshold * 10)
      return "the CPU load of the node exceeds the upper limit.";
    if (usage->memory > args_.memory_threshold * 10)
      return "the memory load of the node exceeds the upper limit.";
    return {};
  }
  std::int64_t score_task(const Session& session, TaskRef, NodeSlot node) const override {
    const NodeUsage* usage = usage_of(session, node);
    const std::int64_t weights = args_.cpu_weight + args_.memory_weight;
    if (usage == nullptr || weights == 0) return 0;
    const auto [cpu, memory] = busy(session, node, *usage);
    const std::int64_t idle =
        (kMille - cpu) * args_.cpu_weight + (kMille - memory) * args_.memory_weight;
    return scale(idle * (100 * kPoint / kMille), args_.weight, weights);
  }

 private:
  const NodeUsage* usage_of(const Session& session, NodeSlot slot) const {
    if (!session.has_node(slot)) return nullptr;
    const std::optional<NodeUsage>& usage = session.node(slot).spec->usage;
    return usage && now_ - usage->at <= kFresh ? &*usage : nullptr;
  }

  // Per mille of cpu and memory, the unseen pods included.
  std::pair<std::int64_t, std::int64_t> busy(const Session& session, NodeSlot node,
                                             const NodeUsage& usage) const {
    const Resource& all = session.node(node).spec->allocatable;
    const auto extra = unseen_.find(node);
    const auto part = [&](Dim d, std::int64_t measured) {
      const std::int64_t more = extra == unseen_.end() || all.at(d) <= 0
                                    ? 0
                                    : scale(extra->second.at(d), kMille, all.at(d));
      return std::clamp<std::int64_t>(measured + more, 0, kMille);
    };
    return {part(kCpu, usage.cpu), part(kMemory, usage.memory)};
  }

  void add(const Session& session, NodeSlot node, const TaskSpec& task, int sign) {
    const NodeUsage* usage = usage_of(session, node);
    if (usage == nullptr) return;
    Resource& sum = unseen_[node];
    if (sign < 0) {
      if (const auto known = estimates_.find(&task); known != estimates_.end()) {
        sum -= known->second;
        estimates_.erase(known);
      }
      return;
    }
    const auto [cpu, memory] = busy(session, node, *usage);
    const std::int64_t weights = std::max<std::int64_t>(args_.cpu_weight + args_.memory_weight, 1);
    const std::int64_t load = (cpu * args_.cpu_weight + memory * args_.memory_weight) / weights;
    const std::int64_t factor = load >= args_.risk_threshold ? args_.risk_factor : kMille;
    const Resource& request = task.shape->request;
    Resource estimate;
    if (task.shape->best_effort()) {
      estimate.set(kCpu, scale(args_.idle_cpu, factor, kMille));
      estimate.set(kMemory, scale(args_.idle_memory, factor, kMille));
    } else {
      for (const Dim d : {kCpu, kMemory}) {
        const std::int64_t guess =
            scale(scale(request.at(d), args_.request_ratio, kMille), factor, kMille);
        estimate.set(d, std::min(guess, request.at(d)));
      }
    }
    sum += estimate;
    estimates_[&task] = std::move(estimate);
  }

  const UsageArgs& args_;
  WallTime now_;
  bool figures_ = false;
  std::map<NodeSlot, Resource> unseen_;
  std::map<const TaskSpec*, Resource> estimates_;  // looked up, never walked
};

Result<std::int64_t> quantity(const Json& from, std::string_view key, bool milli,
                              std::int64_t fallback) {
  const Json* given = find(from, {key});
  if (given == nullptr) return fallback;
  if (given->is_int64()) return scale(given->get_int64(), milli ? 1 : std::int64_t{1} << 20, 1);
  if (!given->is_string())
    return make_error(Code::Invalid,
                      "argument \"estimator." + std::string(key) + "\" must be a quantity");
  TRY_ASSIGN(const Quantity amount, Quantity::parse(view(given->get_string())));
  if (amount.sign() < 0) return fallback;
  return milli ? amount.milli_value() : amount.value();
}

}  // namespace

Result<PluginFactory> configure_usage(Arguments& arguments, const EnableFlags& flags) {
  const auto args = std::make_shared<UsageArgs>();
  const auto weight = [&](std::string_view key, std::int64_t& out) -> Result<void> {
    const std::int64_t fallback = out;
    TRY_ASSIGN(out, arguments.integer(key, fallback));
    if (out < 0) out = fallback;
    return {};
  };
  TRY(weight("usage.weight", args->weight));
  TRY(weight("cpu.weight", args->cpu_weight));
  TRY(weight("memory.weight", args->memory_weight));
  TRY_ASSIGN(const JsonObject* thresholds, arguments.object("thresholds"));
  Arguments limits(thresholds);
  TRY_ASSIGN(const std::int64_t cpu, limits.integer("cpu", 80));
  TRY_ASSIGN(const std::int64_t memory, limits.integer("mem", 80));
  TRY(limits.check_all_known());
  if (cpu >= 0 && cpu <= 100) args->cpu_threshold = cpu;
  if (memory >= 0 && memory <= 100) args->memory_threshold = memory;
  TRY_ASSIGN(const JsonObject* estimator, arguments.object("estimator"));
  Arguments guess(estimator);
  TRY_ASSIGN(args->request_ratio, guess.per_mille("request_ratio", 700));
  TRY_ASSIGN(args->risk_threshold, guess.per_mille("risk_threshold", 600));
  TRY_ASSIGN(args->risk_factor, guess.per_mille("risk_factor", 1200));
  guess.ignore("burst_ratio");  // limits are not in a pod's request
  guess.ignore("be_cpu");
  guess.ignore("be_mem");
  TRY(guess.check_all_known());
  if (args->risk_factor < kMille) args->risk_factor = kMille;
  if (estimator == nullptr) {
    return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
      plugins.add(std::make_unique<Usage>(*args), enabled);
    });
  }
  const Json given(*estimator);
  TRY_ASSIGN(args->idle_cpu, quantity(given, "be_cpu", true, args->idle_cpu));
  TRY_ASSIGN(args->idle_memory, quantity(given, "be_mem", false, args->idle_memory));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Usage>(*args), enabled);
  });
}

}  // namespace krater::scheduler
