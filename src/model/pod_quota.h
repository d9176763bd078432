// What pods use of a quota, under the names that quotas know. Pure.
#pragma once

#include "model/resource_list.h"

namespace krater {

struct PodQuota {
  std::int64_t pods = 0;
  ResourceList requests{}, limits{};

  // One pod of this PodSpec; null: one that asks for nothing.
  static PodQuota of(const Json* pod_spec);
  void add(const PodQuota& other, std::int64_t times = 1);
  // "cpu", "memory", …, and beside them "requests.cpu", "limits.cpu", "pods", "count/pods".
  Json to_json_object() const;
};

}  // namespace krater
