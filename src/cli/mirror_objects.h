// What shows a part of Volcano, which runs inside the server, to people who look for it where
// Volcano has it: Deployment, ReplicaSet and Pod volcano-scheduler, -controllers or -admission in
// volcano-system. Nobody acts on them (model/mirror.h); what is missing is made again. Lives on one
// loop, as its client does.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::cli {

// By the name of its Deployment, and the label `app` that Volcano's chart gives it.
struct MirroredPart {
  std::string name, app;
};

class MirrorObjects {
 public:
  MirrorObjects(MirroredPart part, client::ObjectClient& client, Loop& loop, const WallClock& clock)
      : part_(std::move(part)),
        client_(client),
        loop_(loop),
        clock_(clock),
        started_(clock.now()) {}
  ~MirrorObjects();
  MirrorObjects(const MirrorObjects&) = delete;
  MirrorObjects& operator=(const MirrorObjects&) = delete;

  void start() { look(); }
  struct Step;

 private:
  void look();
  void ensure(std::size_t step, Json owner);
  void show(const Step& step, const ObjectPtr& object);
  void again(Duration after);

  const MirroredPart part_;
  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  const WallTime started_;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::cli
