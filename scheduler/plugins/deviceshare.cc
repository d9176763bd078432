// deviceshare: pods that share a GPU by memory (volcano.sh/gpu-memory), or have some for themselves
// (volcano.sh/gpu-number; volcano.md 4.12). A node says how many cards and how much memory it has
// in all; which cards a pod got is written on it (volcano.sh/gpu-index), when it is bound.
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kMemoryName = "volcano.sh/gpu-memory";
constexpr std::string_view kNumberName = "volcano.sh/gpu-number";
constexpr std::string_view kIndex = "volcano.sh/gpu-index";
constexpr std::string_view kTime = "volcano.sh/predicate-time";

using Cards = std::vector<std::int64_t>;

// What was written, or will be: by uid. Outlives sessions, as a bind takes a moment to be seen.
struct DeviceMemory {
  std::map<std::string, Cards> given{};
};

struct Holder {
  Cards cards{};
  std::int64_t memory = 0;  // of each card; 0: the whole card
  bool leaving = false;
};

struct GpuNode {
  std::int64_t cards = 0, memory_per_card = 0;
  std::map<std::string, Holder> holders{};  // by uid
};

Cards parse_cards(std::string_view text) {
  Cards out;
  for (const std::string_view piece : split(text, ',')) {
    if (const auto id = parse_int(trim(piece))) out.push_back(*id);
  }
  return out;
}

class DeviceShare final : public Plugin, public TaskFilterHook, public BindNotesHook {
 public:
  DeviceShare(bool by_memory, DeviceMemory& memory) : by_memory_(by_memory), memory_(memory) {}

  void open(const Session& session) override {
    for (Dim d = 0; d < session.names().count(); ++d) {
      if (session.names().name(d) == kMemoryName) memory_dim_ = d;
      if (session.names().name(d) == kNumberName) number_dim_ = d;
    }
    if (!number_dim_ || (by_memory_ && !memory_dim_)) return;
    for (const NodeSlot slot : session.node_order()) {
      const Resource& all = session.node(slot).spec->allocatable;
      const std::int64_t cards = all.at(*number_dim_);
      if (cards <= 0) continue;
      nodes_[slot] = {cards, memory_dim_ ? all.at(*memory_dim_) / cards : 0};
    }
    if (nodes_.empty()) return;
    now_ = session.now();
    std::map<std::string, Cards> still;
    for (const PlacedPod& pod : session.placed_pods()) {
      const auto node = nodes_.find(pod.node);
      if (node == nodes_.end() || asked(*pod.task) <= 0) continue;
      const std::string uid = pod.task->pod->uid().text();
      Cards cards = parse_cards(ObjectView(pod.task->pod).annotation(kIndex));
      if (const auto given = memory_.given.find(uid);
          cards.empty() && given != memory_.given.end()) {
        cards = given->second;
        still.emplace(uid, cards);
      }
      node->second.holders[uid] = {std::move(cards), by_memory_ ? asked(*pod.task) : 0,
                                   pod.leaving};
    }
    memory_.given = std::move(still);
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    return asked(*session.task(task).spec) > 0 ? Likeness{"gpu"} : Likeness{};
  }
  std::string reject_task(const Session& session, TaskRef task, NodeSlot slot,
                          bool future) const override {
    const auto node = nodes_.find(slot);
    const std::string what =
        by_memory_ ? "GpuShare no enough gpu memory" : "GpuNumber no enough gpu number";
    if (node == nodes_.end()) return what;
    return choose(node->second, *session.task(task).spec, future).empty() ? what : std::string();
  }

  void placed(const Session& session, JobId, const TaskSpec& task) override {
    const auto node = nodes_.find(session.pod_moves().back().node);
    if (node == nodes_.end() || asked(task) <= 0) return;
    Holder& mine = node->second.holders[task.pod->uid().text()];
    if (mine.leaving) {  // not evicted after all
      mine.leaving = false;
      return;
    }
    Cards cards = choose(node->second, task, false);
    if (cards.empty()) cards = choose(node->second, task, true);  // once others have left
    mine = {std::move(cards), by_memory_ ? asked(task) : 0};
  }
  void unplaced(const Session& session, JobId, const TaskSpec& task) override {
    const auto node = nodes_.find(session.pod_moves().back().node);
    if (node == nodes_.end() || asked(task) <= 0) return;
    const auto mine = node->second.holders.find(task.pod->uid().text());
    if (mine == node->second.holders.end()) return;
    // Who was there before leaves in his own time.
    if (!PodView(task.pod).node_name().empty()) {
      mine->second.leaving = true;
    } else {
      node->second.holders.erase(mine);
    }
  }

  void annotate(const Session& session, TaskRef ref, Labels& annotations) const override {
    const Task& task = session.task(ref);
    const auto node = nodes_.find(task.node);
    if (node == nodes_.end() || asked(*task.spec) <= 0) return;
    const std::string uid = task.spec->pod->uid().text();
    const auto mine = node->second.holders.find(uid);
    if (mine == node->second.holders.end() || mine->second.cards.empty()) return;
    std::string text;
    for (const std::int64_t card : mine->second.cards)
      text += (text.empty() ? "" : ",") + std::to_string(card);
    annotations[std::string(kIndex)] = text;
    annotations[std::string(kTime)] = std::to_string(now_.unix_nanos());
    memory_.given[uid] = mine->second.cards;
  }

 private:
  std::int64_t asked(const TaskSpec& task) const {
    const std::optional<Dim> dim = by_memory_ ? memory_dim_ : number_dim_;
    return dim ? task.shape->request.at(*dim) : 0;
  }

  // The first card with enough memory, or as many free cards as are asked for; empty: there are
  // not.
  Cards choose(const GpuNode& node, const TaskSpec& task, bool future) const {
    std::vector<std::int64_t> used(static_cast<std::size_t>(node.cards), 0);
    for (const auto& [uid, holder] : node.holders) {
      if ((future && holder.leaving) || uid == task.pod->uid().text()) continue;
      for (const std::int64_t card : holder.cards) {
        if (card < 0 || card >= node.cards) continue;
        used[static_cast<std::size_t>(card)] +=
            by_memory_ && holder.memory > 0 ? holder.memory
                                            : std::max<std::int64_t>(node.memory_per_card, 1);
      }
    }
    Cards out;
    for (std::int64_t card = 0; card < node.cards; ++card) {
      const std::int64_t taken = used[static_cast<std::size_t>(card)];
      if (by_memory_) {
        if (node.memory_per_card - taken >= asked(task)) return {card};
      } else if (taken == 0) {
        out.push_back(card);
        if (static_cast<std::int64_t>(out.size()) == asked(task)) return out;
      }
    }
    return {};
  }

  const bool by_memory_;
  DeviceMemory& memory_;
  std::optional<Dim> memory_dim_{}, number_dim_{};
  std::map<NodeSlot, GpuNode> nodes_;
  WallTime now_;
};

}  // namespace

Result<PluginFactory> configure_deviceshare(Arguments& arguments, const EnableFlags& flags) {
  TRY_ASSIGN(const bool sharing, arguments.boolean("deviceshare.GPUSharingEnable", false));
  TRY_ASSIGN(const bool number, arguments.boolean("deviceshare.GPUNumberEnable", false));
  if (sharing && number) {
    return make_error(Code::Invalid,
                      "arguments \"deviceshare.GPUSharingEnable\" and "
                      "\"deviceshare.GPUNumberEnable\" exclude each other");
  }
  for (const std::string_view key :
       {"deviceshare.VGPUEnable", "deviceshare.AscendMindClusterVNPUEnable",
        "deviceshare.AscendHAMiVNPUEnable"}) {
    TRY_ASSIGN(const bool on, arguments.boolean(key, false));
    if (on)
      return make_error(Code::Invalid,
                        "argument \"" + std::string(key) + "\": these devices are not known here");
  }
  // A node is locked by nobody: one scheduler gives cards away. The policy is that of vGPUs.
  TRY(ignore_booleans(arguments, {"deviceshare.NodeLockEnable"}));
  TRY(ignore_integers(arguments, {"deviceshare.ScheduleWeight"}));
  TRY(ignore_strings(arguments, {"deviceshare.SchedulePolicy", "deviceshare.KnownGeometriesCMName",
                                 "deviceshare.KnownGeometriesCMNamespace"}));
  const auto memory = std::make_shared<DeviceMemory>();
  return PluginFactory([sharing, number, memory](PluginSet& plugins, const EnableFlags& enabled) {
    if (sharing || number) plugins.add(std::make_unique<DeviceShare>(sharing, *memory), enabled);
  });
}

}  // namespace krater::scheduler
