// Somebody with kubectl: makes and deletes objects, and tries again while the server does not
// answer or does not know.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/sim_loop.h"

namespace krater::sim {

class User {
 public:
  User(SimLoop& loop, Network& network) : lane_(loop, "user"), client_(network, lane_, "admin") {}

  void create(const Kind& kind, Json object);
  void remove(const Kind& kind, const std::string& name_space, const std::string& name);
  // What he has created, queues excepted.
  void delete_all();
  struct Made {
    Kind kind;
    std::string name_space, name;
  };
  const std::vector<Made>& made() const { return made_; }
  // Nothing he wants is still to be done.
  bool idle() const { return wanted_ == 0; }
  // What the API would not take.
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  void try_write(client::Write write, Code fine);

  Lane lane_;
  RemoteClient client_;
  std::vector<Made> made_;
  std::vector<std::string> refusals_;
  std::size_t wanted_ = 0;
};

}  // namespace krater::sim
