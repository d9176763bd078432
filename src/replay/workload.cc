#include "replay/workload.h"

#include <algorithm>

namespace krater::replay {

void sort_by_time(Workload& workload) {
  std::sort(workload.submissions.begin(), workload.submissions.end(),
            [](const Submission& a, const Submission& b) {
              return a.at != b.at ? a.at < b.at : a.name < b.name;
            });
}

}  // namespace krater::replay
