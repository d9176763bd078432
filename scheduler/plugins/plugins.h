// One function a plugin: reads its arguments and gives back what makes it. The table is in
// plugins.cc.
#pragma once

#include "scheduler/config.h"

namespace krater::scheduler {

Result<PluginFactory> configure_binpack(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_capacity(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_cdp(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_conformance(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_drf(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_extender(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_fairshare(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_gang(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_nodeorder(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_overcommit(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_predicates(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_priority(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_proportion(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_deviceshare(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_network_topology_aware(Arguments& arguments,
                                                       const EnableFlags& flags);
Result<PluginFactory> configure_nodegroup(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_numa_aware(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_pdb(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_rescheduling(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_resource_strategy_fit(Arguments& arguments,
                                                      const EnableFlags& flags);
Result<PluginFactory> configure_resourcequota(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_task_topology(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_tdm(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_usage(Arguments& arguments, const EnableFlags& flags);
Result<PluginFactory> configure_sla(Arguments& arguments, const EnableFlags& flags);

}  // namespace krater::scheduler
