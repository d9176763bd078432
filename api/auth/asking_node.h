// The node that asks, by name: for what is said to it.
#pragma once

#include <string>

#include "api/auth/identity.h"

namespace krater::api {

class AskingNode : public NodeScope {
 public:
  explicit AskingNode(const Identity& who) : NodeScope(who) {
    if (*this) name_ = who.user.substr(kNodeUserPrefix.size());
  }
  // Of a pool: the one it is first of all.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace krater::api
