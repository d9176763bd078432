// usage: keeps pods off nodes that are busy by their own account, and prefers idle ones
// (volcano.md 4.12). Pods that a node's figures do not show yet are counted by estimate.
#include <algorithm>
#include <map>

#include "base/quantity.h"
#include "model/pod_quota.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr Duration kFresh = std::chrono::minutes(5);    // older figures say nothing
constexpr Duration kUnseen = std::chrono::seconds(30);  // a pod younger than that is not in them
constexpr std::int64_t kMille = 1000;

struct UsageArgs {
  std::int64_t weight = 5, cpu_weight = 1, memory_weight = 1;
  std::int64_t cpu_threshold = 80, memory_threshold = 80;  // percent
  std::int64_t request_ratio = 700, burst_ratio = 0;  // per mille: of the request, and beyond it
  std::int64_t risk_threshold = 600, risk_factor = 1200;  // per mille
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
    Resource guess = estimate(task, factor);
    sum += guess;
    estimates_[&task] = std::move(guess);
  }

  // What a pod will use: a part of what it asks for, and of what it may use beyond that; never more
  // than it may.
  Resource estimate(const TaskSpec& task, std::int64_t factor) const {
    Resource out;
    if (task.shape->best_effort()) {
      out.set(kCpu, scale(args_.idle_cpu, factor, kMille));
      out.set(kMemory, scale(args_.idle_memory, factor, kMille));
      return out;
    }
    const Resource& request = task.shape->request;
    const bool within_request =
        args_.burst_ratio == 0 && scale(args_.request_ratio, factor, kMille) <= kMille;
    const ResourceList limits =
        within_request ? ResourceList() : PodQuota::of(&PodView(task.pod).spec()).limits;
    for (const auto& [dim, name] :
         {std::pair(kCpu, resources::kCpu), std::pair(kMemory, resources::kMemory)}) {
      const std::int64_t asked = request.at(dim), most = std::max(limits.at(name), asked);
      const std::int64_t guess = scale(asked, args_.request_ratio, kMille) +
                                 scale(most - asked, args_.burst_ratio, kMille);
      out.set(dim, std::min(scale(guess, factor, kMille), most));
    }
    return out;
  }

  const UsageArgs& args_;
  WallTime now_;
  bool figures_ = false;
  std::map<NodeSlot, Resource> unseen_;
  std::map<const TaskSpec*, Resource> estimates_;  // looked up, never walked
};

// As integers, milli of cpu and mebibytes of memory; texts are quantities.
Result<std::int64_t> quantity(Arguments& from, std::string_view key, bool milli,
                              std::int64_t fallback) {
  if (const Result<std::int64_t> number = from.integer(key, -1))
    return *number < 0 ? fallback : scale(*number, milli ? 1 : std::int64_t{1} << 20, 1);
  const Result<std::string> text = from.string(key, "");
  const Result<Quantity> amount = Quantity::parse(text ? *text : std::string());
  if (!amount)
    return make_error(Code::Invalid, "argument \"" + std::string(key) + "\" must be a quantity");
  if (amount->sign() < 0) return fallback;
  return milli ? amount->milli_value() : amount->value();
}

// What is out of its range leaves the default.
Result<void> read_estimator(Arguments& given, UsageArgs& out) {
  const auto part = [&](std::string_view key, std::int64_t& to) -> Result<void> {
    TRY_ASSIGN(const std::int64_t ratio, given.per_mille(key, to));
    if (ratio >= 0 && ratio <= kMille) to = ratio;
    return {};
  };
  TRY(part("request_ratio", out.request_ratio));
  TRY(part("burst_ratio", out.burst_ratio));
  TRY(part("risk_threshold", out.risk_threshold));
  TRY_ASSIGN(const std::int64_t factor, given.per_mille("risk_factor", out.risk_factor));
  if (factor >= kMille) out.risk_factor = factor;
  TRY_ASSIGN(out.idle_cpu, quantity(given, "be_cpu", true, out.idle_cpu));
  TRY_ASSIGN(out.idle_memory, quantity(given, "be_mem", false, out.idle_memory));
  return {};
}

Result<void> read_thresholds(Arguments& given, UsageArgs& out) {
  TRY_ASSIGN(const std::int64_t cpu, given.integer("cpu", 80));
  TRY_ASSIGN(const std::int64_t memory, given.integer("mem", 80));
  if (cpu >= 0 && cpu <= 100) out.cpu_threshold = cpu;
  if (memory >= 0 && memory <= 100) out.memory_threshold = memory;
  return {};
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
  TRY(read_map(arguments, "thresholds",
               [&](Arguments& given) { return read_thresholds(given, *args); }));
  TRY(read_map(arguments, "estimator",
               [&](Arguments& given) { return read_estimator(given, *args); }));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Usage>(*args), enabled);
  });
}

}  // namespace krater::scheduler
