// predicates: where a pod may go. Semantics of each filter are kube-scheduler's; resources (with
// extended ones and the pod count) are checked by the framework before them. Filters, in order:
// unschedulable, node selector and affinity, taints, zones of volumes, volumes, host ports, limits
// of attached volumes; then affinity between pods and topology spread, which are worked out by
// Neighbours.
#include "model/node.h"
#include "scheduler/inner_arguments.h"
#include "scheduler/plugins/plugins.h"
#include "scheduler/session.h"

namespace krater::scheduler {
namespace {

struct PredicatesArgs {
  bool node_affinity = true, taints = true, node_ports = true;
  bool pod_affinity = true, spread = true;
  bool volumes = true, volume_limits = true, volume_zone = true;
};

bool tolerated(const PodShape& shape, const Taint& taint) {
  for (const Toleration& toleration : shape.tolerations) {
    if (toleration.tolerates(taint)) return true;
  }
  return false;
}

bool selected(const PodShape& shape, const NodeSpec& node) {
  for (const auto& [key, value] : shape.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  return shape.affinity.allows(node.name, node.labels);
}

class Predicates final : public Plugin, public FilterHook {
 public:
  explicit Predicates(PredicatesArgs args) : args_(args) {}

  void open(const Session& session) override { volumes_ = &session.volumes(); }

  std::string reject(const PodShape& shape, const NodeSpec& node) const override {
    if (node.unschedulable &&
        !tolerated(shape, {std::string(keys::kTaintUnschedulable), "", "NoSchedule"})) {
      return "node(s) were unschedulable";
    }
    if (args_.node_affinity && !selected(shape, node)) {
      return "node(s) didn't match Pod's node affinity/selector";
    }
    for (const Taint& taint : node.taints) {
      if (!args_.taints) break;
      if (taint.effect == "PreferNoSchedule" || tolerated(shape, taint)) continue;
      return "node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}";
    }
    if (shape.claims.empty()) return {};
    if (args_.volume_zone && !volumes_->in_its_zones(shape.claims, node.labels))
      return "node(s) had no available volume zone";
    if (!args_.volumes) return {};
    return volumes_->reject(shape.claims, {node.name, node.labels});
  }

  bool depends_on_load(const PodShape& shape) const override {
    return (args_.node_ports && !shape.host_ports.empty()) || watches_volumes(shape) ||
           watches_limits(shape);
  }
  std::string_view reject_now(const PodShape& shape, const NodeInfo& node,
                              bool future) const override {
    for (const HostPort& port : shape.host_ports) {
      if (!args_.node_ports) break;
      if (!node.port_free(port, future))
        return "node(s) didn't have free ports for the requested pod ports";
    }
    if (watches_limits(shape)) {
      const std::string_view why =
          volumes_->reject_beyond_limit(shape.claims, node.claims, node.name);
      if (!why.empty()) return why;
    }
    if (!watches_volumes(shape)) return {};
    return volumes_->reject_beside(shape.claims, node.claims, {node.name, node.spec->labels});
  }

 private:
  bool watches_volumes(const PodShape& shape) const {
    return args_.volumes && !shape.claims.empty() && volumes_->competes(shape.claims);
  }

  bool watches_limits(const PodShape& shape) const {
    return args_.volume_limits && !shape.claims.empty() && !volumes_->limits().empty();
  }

  PredicatesArgs args_;
  const VolumeBook* volumes_ = nullptr;  // the session's
};

}  // namespace

Result<PluginFactory> configure_predicates(Arguments& arguments, const EnableFlags& flags) {
  PredicatesArgs args;
  TRY_ASSIGN(args.node_affinity, arguments.boolean("predicate.NodeAffinityEnable", true));
  TRY_ASSIGN(args.taints, arguments.boolean("predicate.TaintTolerationEnable", true));
  TRY_ASSIGN(args.node_ports, arguments.boolean("predicate.NodePortsEnable", true));
  TRY_ASSIGN(args.pod_affinity, arguments.boolean("predicate.PodAffinityEnable", true));
  TRY_ASSIGN(args.spread, arguments.boolean("predicate.PodTopologySpreadEnable", true));
  TRY_ASSIGN(args.volumes, arguments.boolean("predicate.VolumeBindingEnable", true));
  TRY_ASSIGN(args.volume_limits, arguments.boolean("predicate.NodeVolumeLimitsEnable", true));
  TRY_ASSIGN(args.volume_zone, arguments.boolean("predicate.VolumeZoneEnable", true));
  // Results are shared between like pods in any case; claims of devices have no filter here.
  TRY(ignore_booleans(arguments,
                      {"predicate.CacheEnable", "predicate.DynamicResourceAllocationEnable"}));
  TRY(ignore_integers(arguments, {"volumebinding.weight", "volumebinding.bindTimeoutSeconds",
                                  "dynamicresources.filterTimeoutSeconds"}));
  TRY(arguments.list("volumebinding.shape"));
  return PluginFactory([args](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Predicates>(args), enabled);
    plugins.neighbours.affinity = args.pod_affinity && enabled.on("enablePredicate");
    plugins.neighbours.spread = args.spread && enabled.on("enablePredicate");
  });
}

}  // namespace krater::scheduler
