// Takes the queue's scheduling gate off pods. On the scheduler's loop.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "client/object_client.h"
#include "scheduler/info.h"

namespace krater::scheduler {

class GateWriter {
 public:
  // `failed`: a gate of this job is still there; it is to be looked at again.
  GateWriter(client::ObjectClient& client, std::function<void(const JobKey& job)> failed)
      : client_(client), failed_(std::move(failed)) {}
  ~GateWriter() { *alive_ = false; }
  GateWriter(const GateWriter&) = delete;
  GateWriter& operator=(const GateWriter&) = delete;

  // The pod as it was seen; one that has changed meanwhile keeps its gate. False: it is being done
  // already.
  bool lift(const TaskSpec& task);

 private:
  client::ObjectClient& client_;
  std::function<void(const JobKey& job)> failed_;
  std::set<Uid> under_way_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
