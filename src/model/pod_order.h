// Which of two pods is missed less, where one of them has to go.
#pragma once

#include "model/pod.h"

namespace krater {

// The less a pod has come to, the smaller: who waits goes before who runs.
inline int phase_rank(PodPhase phase) {
  switch (phase) {
    case PodPhase::Pending:
      return 0;
    case PodPhase::Unknown:
      return 1;
    case PodPhase::Running:
      return 2;
    case PodPhase::Succeeded:
    case PodPhase::Failed:
      return 3;
  }
  return 3;
}

}  // namespace krater
