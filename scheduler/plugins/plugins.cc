// The only list of plugins.
#include "scheduler/plugins/plugins.h"

#include <algorithm>
#include <array>

namespace krater::scheduler {
namespace {

constexpr std::array kPlugins{
    PluginEntry{"binpack", configure_binpack},
    PluginEntry{"capacity", configure_capacity},
    PluginEntry{"cdp", configure_cdp},
    PluginEntry{"conformance", configure_conformance},
    PluginEntry{"deviceshare", configure_deviceshare},
    PluginEntry{"drf", configure_drf},
    PluginEntry{"extender", configure_extender},
    PluginEntry{"fairshare", configure_fairshare},
    PluginEntry{"gang", configure_gang},
    PluginEntry{"network-topology-aware", configure_network_topology_aware},
    PluginEntry{"nodegroup", configure_nodegroup},
    PluginEntry{"nodeorder", configure_nodeorder},
    PluginEntry{"numa-aware", configure_numa_aware},
    PluginEntry{"overcommit", configure_overcommit},
    PluginEntry{"pdb", configure_pdb},
    PluginEntry{"predicates", configure_predicates},
    PluginEntry{"priority", configure_priority},
    PluginEntry{"proportion", configure_proportion},
    PluginEntry{"rescheduling", configure_rescheduling},
    PluginEntry{"resource-strategy-fit", configure_resource_strategy_fit},
    PluginEntry{"resourcequota", configure_resourcequota},
    PluginEntry{"sla", configure_sla},
    PluginEntry{"task-topology", configure_task_topology},
    PluginEntry{"tdm", configure_tdm},
    PluginEntry{"usage", configure_usage}};
static_assert(std::ranges::is_sorted(kPlugins, {}, &PluginEntry::name));

}  // namespace

const PluginEntry* find_plugin(std::string_view name) {
  const auto place = std::ranges::lower_bound(kPlugins, name, {}, &PluginEntry::name);
  return place != kPlugins.end() && place->name == name ? &*place : nullptr;
}

}  // namespace krater::scheduler
