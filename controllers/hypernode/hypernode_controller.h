// HyperNodes: how many nodes each holds (status.nodeCount), and those that the labels of the nodes
// tell of, by the configuration in ConfigMap volcano-system/volcano-controller-configmap
// (networkTopologyDiscovery, source label). Mirrors Volcano's hyperNode controller.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_hyper_node_controller();

}  // namespace krater::controllers
