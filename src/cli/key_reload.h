// --encryption-provider-config-automatic-reload: the file of keys is looked at again and again;
// when it has changed, the new keys seal, and what the earlier first key wrote is written anew. A
// file that is no good changes nothing. On the chores loop, which it may block.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "api/encryption/sealer.h"
#include "api/machinery/schema.h"
#include "api/server/metrics.h"
#include "base/env.h"
#include "storage/store.h"

namespace krater::cli {

struct KeyReloadParts {
  std::string path;  // of the configuration
  std::string text;  // in force
  std::shared_ptr<api::encryption::ObjectSealer> sealer;
  storage::Store& store;
  const api::SchemaSet& schemas;
  Loop& loop;
  const WallClock& clock;
};

class KeyReload {
 public:
  explicit KeyReload(KeyReloadParts parts) : parts_(std::move(parts)) {}

  // Any thread; before start().
  void add_metrics(api::Metrics& to) const;
  // On the loop, as all below. Looks once in ten seconds.
  void start();
  // Whether the configuration is another one now.
  Result<bool> look();

 private:
  struct Counters {
    std::atomic<std::int64_t> successes{0}, failures{0};
    std::atomic<std::int64_t> last_success{0}, last_failure{0};  // Unix seconds; 0: never
  };
  void look_and_tell();

  KeyReloadParts parts_;
  std::set<std::string> left_;  // objects that are still to be written anew
  std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
};

}  // namespace krater::cli
