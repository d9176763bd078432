#include "scheduler/plugins/capacity_rules.h"

namespace krater::scheduler {
namespace {

bool is_best_effort(const Resource& request) {
  for (Dim d = 0; d < request.dims(); ++d) {
    if (d != kPods && request.at(d) > 0) return false;
  }
  return true;
}

}  // namespace

bool of_use(const Resource& given, const Resource& wanted) {
  for (Dim d = 0; d < given.dims(); ++d) {
    if (d != kPods && given.at(d) > 0 && wanted.at(d) > 0) return true;
  }
  return is_best_effort(given);
}

bool above_floor(const Resource& rest, const Resource& guarantee) {
  for (Dim d = 0; d < guarantee.dims(); ++d) {
    if (guarantee.at(d) > 0 && rest.at(d) < guarantee.at(d)) return false;
  }
  return true;
}

bool has_relevant(const Bounds& deserved, const Resource& request) {
  for (Dim d = 0; d < request.dims(); ++d) {
    if (request.at(d) <= 0 || !deserved.has(d)) continue;
    if ((d != kCpu && d != kMemory) || deserved.at(d) > 0) return true;
  }
  return false;
}

bool beyond_deserved(const Resource& allocated, const Resource& given, const Bounds& deserved) {
  for (Dim d = 0; d < given.dims(); ++d) {
    if (given.at(d) > 0 && deserved.has(d) && allocated.at(d) > deserved.at(d)) return true;
  }
  return false;
}

Resource only(const Resource& amounts, const Resource& wanted) {
  Resource out;
  for (Dim d = 0; d < amounts.dims(); ++d) {
    if (d != kPods && wanted.at(d) > 0) out.set(d, amounts.at(d));
  }
  return out;
}

}  // namespace krater::scheduler
