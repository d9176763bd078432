// What the store tells on /metrics, under the names kube-apiserver gives to etcd's.
#pragma once

#include <string>

#include "api/machinery/schema.h"
#include "api/server/metrics.h"
#include "storage/store.h"

namespace krater::cli {

// All of them outlive `to`.
void add_store_metrics(api::Metrics& to, const storage::Store& store, const api::SchemaSet& schemas,
                       const std::string& directory);

}  // namespace krater::cli
