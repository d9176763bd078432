// Takes the queue's scheduling gate off pods. On the scheduler's loop.
#pragma once

#include <memory>
#include <set>

#include "client/object_client.h"
#include "scheduler/info.h"

namespace krater::scheduler {

class GateWriter {
 public:
  explicit GateWriter(client::ObjectClient& client) : client_(client) {}
  ~GateWriter() { *alive_ = false; }
  GateWriter(const GateWriter&) = delete;
  GateWriter& operator=(const GateWriter&) = delete;

  // The pod as it was seen; one that has changed meanwhile is looked at again. False: it is being
  // done already.
  bool lift(const TaskSpec& task);

 private:
  client::ObjectClient& client_;
  std::set<Uid> under_way_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
