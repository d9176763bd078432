// A watcher among others, who remembers what he was told: for no object may news be older than what
// he knew, and in the end he knows what is true.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "sim/network.h"
#include "sim/sim_loop.h"
#include "storage/store.h"

namespace krater::sim {

class Witness {
 public:
  Witness(SimLoop& loop, Network& network);

  const std::vector<std::string>& complaints() const { return complaints_; }
  std::optional<std::string> is_wrong_about(const storage::Snapshot& state) const;

 private:
  Lane lane_;
  RemoteClient client_;
  client::Cache cache_;
  std::vector<std::string> complaints_;
};

}  // namespace krater::sim
