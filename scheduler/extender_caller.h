// Whom plugin extender asks: HTTP from within a cycle, and so the one thing that a cycle waits for.
// Given in from outside; tests answer themselves. On the scheduler's loop.
#pragma once

#include "base/http.h"

namespace krater::scheduler {

class ExtenderCaller {
 public:
  virtual ~ExtenderCaller() = default;
  // A cycle begins. Its calls may take `all` together, those after that are not made.
  virtual void begin(Duration all) = 0;
  // Waits for the answer, no longer than request.timeout. Code::Timeout (also when the cycle's time
  // is up), Code::Unavailable, Code::TooLarge; any HTTP status is a value.
  virtual Result<HttpResponse> call(HttpRequest request) = 0;
};

}  // namespace krater::scheduler
