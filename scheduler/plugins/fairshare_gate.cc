#include "scheduler/plugins/fairshare_gate.h"

#include <algorithm>

namespace krater::scheduler {

void share_out(Wide total, std::vector<UserDemand>& users) {
  std::vector<UserDemand*> modest_first;
  Wide weights = 0;
  for (UserDemand& one : users) {
    modest_first.push_back(&one);
    weights += one.weight;
  }
  std::stable_sort(modest_first.begin(), modest_first.end(),
                   [](const UserDemand* a, const UserDemand* b) {
                     return a->demand * b->weight < b->demand * a->weight;
                   });
  Wide left = total;
  for (UserDemand* one : modest_first) {
    const bool modest = one->demand * weights <= left * one->weight;
    one->share = modest ? one->demand : (left * one->weight + weights - 1) / weights;
    if (!modest) continue;
    left -= one->demand;
    weights -= one->weight;
  }
}

}  // namespace krater::scheduler
