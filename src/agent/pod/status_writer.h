// Writes a pod's status when it differs from what the API has: one write in flight, the newest
// state wins, guarded by the revision it was computed from. What follows within a moment goes into
// the same write, as a pod mostly takes several steps at once. Lives on the agent's loop.
#pragma once

#include <functional>
#include <memory>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::agent {

class StatusWriter {
 public:
  // `compute` builds the status wanted now over the given object.
  StatusWriter(client::ObjectClient& client, Loop& loop,
               std::function<Json(const Json& current)> compute)
      : client_(client), loop_(loop), compute_(std::move(compute)) {}
  ~StatusWriter() {
    loop_.cancel(retry_);
    loop_.cancel(gather_);
  }

  // The newest object known (watch or write answer); older ones are ignored.
  void seen(ObjectPtr object);
  // Something may have changed: compare and write. `settled` (may be empty) runs once the API has
  // what was computed, or the object turned out to be gone; who waits for it is not kept waiting
  // for more to come.
  void flush(std::function<void()> settled = {});
  const ObjectPtr& object() const { return object_; }

 private:
  void write();
  void answered(Result<ObjectPtr> result);
  void settle();

  client::ObjectClient& client_;
  Loop& loop_;
  std::function<Json(const Json&)> compute_;
  ObjectPtr object_;
  Json last_sent_;
  bool in_flight_ = false, dirty_ = false, gone_ = false;
  int failures_ = 0;
  Loop::TimerId retry_ = 0, gather_ = 0;
  std::vector<std::function<void()>> waiting_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
