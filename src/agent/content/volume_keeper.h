// Removes the directories of persistent volumes that were deleted. A directory goes only when its
// volume says so itself (it is on its way out and waits for the finalizer): one whose volume is not
// there stays, whatever the reason. On the agent's loop.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::agent {

class VolumeKeeper {
 public:
  // `directory`: holds one directory a volume, under its name.
  VolumeKeeper(client::ObjectClient& client, Loop& loop, std::string directory, std::string node)
      : client_(client), loop_(loop), directory_(std::move(directory)), node_(std::move(node)) {}
  ~VolumeKeeper();
  VolumeKeeper(const VolumeKeeper&) = delete;
  VolumeKeeper& operator=(const VolumeKeeper&) = delete;

  void start();

 private:
  void look();
  void ask(const std::string& name);
  void remove(const ObjectPtr& volume);

  client::ObjectClient& client_;
  Loop& loop_;
  std::string directory_, node_;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
