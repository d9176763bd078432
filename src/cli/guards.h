// What stands between clients, server and disk, from the command line: the audit log, the sealing
// of Secrets, how many requests at once. The flags have kube-apiserver's names.
#pragma once

#include <memory>
#include <string>

#include "api/encryption/sealer.h"
#include "api/server/auditing.h"
#include "api/server/server.h"
#include "base/env.h"
#include "cli/guard_options.h"

namespace CLI {
class App;
}

namespace krater::cli {

void add_guard_options(CLI::App& verb, GuardOptions& options);

struct OpenedSealer {
  std::string path{}, text{};  // of the configuration
  std::shared_ptr<api::encryption::ObjectSealer> sealer{};
};

// From --encryption-provider-config; without it from the data directory's own file, which is made
// with a fresh key (mode 0600) where there is none. Without a sealer when it is switched off.
Result<OpenedSealer> open_sealer(const std::string& data_dir, const GuardOptions& options);
// What is on disk under earlier keys, or plainly, is written anew.
Result<void> refresh_seals(storage::Store& store, const api::encryption::ObjectSealer& sealer);

// Null without a policy. `loop`: where the log is written.
Result<std::unique_ptr<api::Auditing>> open_audit(const GuardOptions& options, Loop& loop,
                                                  const WallClock& clock);

}  // namespace krater::cli
