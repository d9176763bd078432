// The garbage collector: objects go when all their owners have gone. Every kind is watched that can
// own or be owned.
#pragma once

#include <memory>
#include <vector>

#include "controllers/loop/controller_loop.h"

namespace krater::controllers {

class GarbageCollector : public Reconciler {
 public:
  // For kinds that come up later: hand the result to ControllerLoop::add_interest(name(), …). Of a
  // kind that is known it is the version that is used from now on; the result is not needed.
  virtual Interest add_kind(const Kind& kind) = 0;
  // It is not served any more; after ControllerLoop::drop_kind().
  virtual void remove_kind(const Kind& kind) = 0;
};

struct GcDeps {
  client::ObjectClient& client;  // reads owners at the source
  Enqueue wake;
  std::vector<Kind> kinds;  // without Events: they are owned by nobody and many
};

std::unique_ptr<GarbageCollector> make_gc_controller(GcDeps deps);

}  // namespace krater::controllers
