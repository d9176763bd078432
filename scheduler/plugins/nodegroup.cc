// nodegroup: queues that want, or shun, groups of nodes (label volcano.sh/nodegroup-name), and how
// much of a group a queue may hold (annotation volcano.sh/nodegroup-resource-limits;
// volcano.md 4.12).
#include <algorithm>
#include <map>

#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kGroupLabel = "volcano.sh/nodegroup-name";
constexpr std::string_view kLimits = "volcano.sh/nodegroup-resource-limits";

struct NodeGroupArgs {
  bool strict = true, ordered = false, hierarchy = false;
};

struct Affinity {
  std::set<std::string> required{}, shunned{}, disliked{};
  std::vector<std::string> preferred{};
  bool empty() const {
    return required.empty() && shunned.empty() && disliked.empty() && preferred.empty();
  }
  bool prefers(const std::string& group) const {
    return std::find(preferred.begin(), preferred.end(), group) != preferred.end();
  }
};

std::vector<std::string> names_at(const Json& queue, std::string_view kind, std::string_view when) {
  std::vector<std::string> out;
  const JsonArray* list = array_at(queue, {"spec", "affinity", kind, when});
  if (list == nullptr) return out;
  for (const Json& one : *list) {
    if (one.is_string()) out.emplace_back(view(one.get_string()));
  }
  return out;
}

std::set<std::string> set_at(const Json& queue, std::string_view kind, std::string_view when) {
  const std::vector<std::string> list = names_at(queue, kind, when);
  return {list.begin(), list.end()};
}

struct QueueRules {
  bool given = false;  // an affinity, be it empty
  Affinity affinity{};
  bool broken_limits = false;
  std::map<std::string, ResourceList> limits{};  // by group
  std::map<std::string, Resource> allocated{};   // by group
};

QueueRules rules_of(const QueueInfo& queue) {
  QueueRules out;
  const ObjectView object(queue.object);
  const Json& document = object.document();
  constexpr std::string_view kHard = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kSoft = "preferredDuringSchedulingIgnoredDuringExecution";
  const Json* affinity = find(document, {"spec", "affinity"});
  out.given = affinity != nullptr && affinity->is_object();
  out.affinity = {set_at(document, "nodeGroupAffinity", kHard),
                  set_at(document, "nodeGroupAntiAffinity", kHard),
                  set_at(document, "nodeGroupAntiAffinity", kSoft),
                  names_at(document, "nodeGroupAffinity", kSoft)};
  const std::string_view text = object.annotation(kLimits);
  if (text.empty()) return out;
  const Result<Json> limits = parse_json(text);
  out.broken_limits = !limits || !limits->is_object();
  if (out.broken_limits) return out;
  for (const auto& member : limits->get_object()) {
    out.limits.emplace(std::string(member.key().data(), member.key().size()),
                       ResourceList::from(&member.value()));
  }
  return out;
}

class NodeGroups final : public Plugin, public TaskFilterHook, public TaskScoreHook {
 public:
  explicit NodeGroups(NodeGroupArgs args) : args_(args) {}

  void open(const Session& session) override {
    for (QueueId q = 0; q < session.queue_count(); ++q)
      queues_.push_back(rules_of(session.queue(q)));
    if (args_.hierarchy) inherit(session);
    limited_ = std::any_of(queues_.begin(), queues_.end(),
                           [](const QueueRules& one) { return !one.limits.empty(); });
    if (!limited_) return;
    for (const PlacedPod& pod : session.placed_pods()) count(session, *pod.task, pod.node, 1);
  }

  void placed(const Session& session, JobId, const TaskSpec& task) override {
    if (limited_) count(session, task, session.pod_moves().back().node, 1);
  }
  void unplaced(const Session& session, JobId, const TaskSpec& task) override {
    if (limited_) count(session, task, session.pod_moves().back().node, -1);
  }

  Likeness likeness(const Session& session, TaskRef task) const override {
    const QueueId queue = session.queue_of(task.job);
    if (queue == kNoQueue) return {};
    return {"group " + std::to_string(queue), !queues_[queue].limits.empty()};
  }

  std::string reject_task(const Session& session, TaskRef task, NodeSlot node,
                          bool) const override {
    const QueueRules& rules = queues_[session.queue_of(task.job)];
    if (rules.broken_limits) return "node group resource limit annotation invalid";
    const Affinity& affinity = rules.affinity;
    const std::string* group = group_of(session, node);
    if (group == nullptr) {
      return !args_.strict && affinity.empty() ? "" : "node group label not found";
    }
    if (affinity.empty()) return "node group affinity not specified";
    const bool wanted = affinity.required.contains(*group) || affinity.prefers(*group);
    const bool allowed =
        affinity.disliked.contains(*group) || (wanted && !affinity.shunned.contains(*group));
    if (!allowed) return "node does not satisfy the node group affinity";
    return within(session, rules, *group, *session.task(task).spec)
               ? ""
               : "node group resource limit exceeded";
  }

  std::int64_t score_task(const Session& session, TaskRef task, NodeSlot node) const override {
    const Affinity& affinity = queues_[session.queue_of(task.job)].affinity;
    const std::string* group = group_of(session, node);
    if (group == nullptr) return 0;
    if (affinity.disliked.contains(*group)) return -kPoint;
    std::int64_t out = affinity.required.contains(*group) ? 100 * kPoint : 0;
    const auto place = std::find(affinity.preferred.begin(), affinity.preferred.end(), *group);
    if (place == affinity.preferred.end()) return out;
    const auto all = static_cast<std::int64_t>(affinity.preferred.size());
    const auto before = static_cast<std::int64_t>(place - affinity.preferred.begin());
    out += args_.ordered ? scale(50 * kPoint, all - before, all) : 50 * kPoint;
    return out;
  }

 private:
  static const std::string* group_of(const Session& session, NodeSlot node) {
    const Labels& labels = session.node(node).spec->labels;
    const auto place = labels.find(kGroupLabel);
    return place == labels.end() ? nullptr : &place->second;
  }

  // A queue without an affinity has that of the nearest queue above that has one.
  void inherit(const Session& session) {
    std::map<std::string, QueueId> by_name;
    for (QueueId q = 0; q < session.queue_count(); ++q)
      by_name.emplace(session.queue(q).name.text(), q);
    const std::vector<QueueRules> own = queues_;
    for (QueueId q = 0; q < session.queue_count(); ++q) {
      QueueId at = q;
      // No longer than there are queues: parents may form a circle.
      for (QueueId steps = 0; !own[at].given && steps < session.queue_count(); ++steps) {
        const std::string& parent = session.queue(at).parent.text();
        const auto above = by_name.find(parent.empty() ? std::string("root") : parent);
        if (above == by_name.end() || above->second == at) break;
        at = above->second;
      }
      if (own[at].given) queues_[q].affinity = own[at].affinity;
    }
  }

  void count(const Session& session, const TaskSpec& task, NodeSlot node, int sign) {
    if (!session.has_node(node)) return;
    const std::string* group = group_of(session, node);
    const QueueId queue = session.queue_of(task.job);
    if (group == nullptr || queue == kNoQueue) return;
    Resource& held = queues_[queue].allocated[*group];
    sign > 0 ? held += task.shape->request : held -= task.shape->request;
  }

  static bool within(const Session& session, const QueueRules& rules, const std::string& group,
                     const TaskSpec& task) {
    const auto limit = rules.limits.find(group);
    if (limit == rules.limits.end()) return true;
    const auto held = rules.allocated.find(group);
    for (Dim d = 0; d < session.names().count(); ++d) {
      const auto most = limit->second.find(session.names().name(d));
      if (!most) continue;
      const std::int64_t now = held == rules.allocated.end() ? 0 : held->second.at(d);
      if (now + task.shape->request.at(d) > *most) return false;
    }
    return true;
  }

  NodeGroupArgs args_;
  std::vector<QueueRules> queues_;
  bool limited_ = false;
};

}  // namespace

Result<PluginFactory> configure_nodegroup(Arguments& arguments, const EnableFlags& flags) {
  NodeGroupArgs args;
  TRY_ASSIGN(args.strict, arguments.boolean("strict", true));
  TRY_ASSIGN(args.ordered, arguments.boolean("enablePreferredOrder", false));
  args.hierarchy = flags.on("enableHierarchy");
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<NodeGroups>(args), enabled);
  });
}

}  // namespace krater::scheduler
