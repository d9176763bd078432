// The scheduler's calls to an extender: made on a thread of their own, which starts with the first
// one, while the scheduler's waits. Called from the scheduler's thread only.
#pragma once

#include <memory>

#include "base/http.h"
#include "cli/loop_thread.h"
#include "scheduler/extender_caller.h"

namespace krater::cli {

class ExtenderCalls final : public scheduler::ExtenderCaller {
 public:
  ExtenderCalls() = default;
  ~ExtenderCalls() override;
  void begin(Duration all) override { left_ = all; }
  Result<HttpResponse> call(HttpRequest request) override;

 private:
  LoopThread thread_{"krater-extender"};
  std::unique_ptr<HttpClient> http_;  // lives on the thread; null: no call was made yet
  Duration left_{};                   // of the cycle's time
};

}  // namespace krater::cli
