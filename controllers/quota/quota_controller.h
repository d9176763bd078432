// Keeps the usage in ResourceQuotas current when something goes away or changes. What comes is
// charged by the server itself, in the transaction that stores it, and so is the counting: a write
// of a quota's status is answered by counting anew. This controller only says when.
#pragma once

#include <memory>
#include <vector>

#include "controllers/loop/plan.h"

namespace krater::controllers {

class QuotaController : public Reconciler {
 public:
  // For namespaced kinds that come up later: hand the result to
  // ControllerLoop::add_interest(name(), …).
  virtual Interest add_kind(const Kind& kind) = 0;
};

// `counted`: all namespaced kinds a quota may count.
std::unique_ptr<QuotaController> make_quota_controller(std::vector<Kind> counted);

}  // namespace krater::controllers
