// Of the server's verbs: see cli/guards.h. Plain values.
#pragma once

#include <string>

namespace krater::cli {

struct GuardOptions {
  std::string encryption_config{};  // a file; empty: the data directory's own; "off": none
  bool encryption_reload = false;   // look at that file again and again
  std::string audit_policy{};       // a file; empty: no audit log
  std::string audit_log{};          // a file; "-": standard output
  int audit_max_age_days = 0;
  int audit_max_backups = 0;
  int audit_max_size_mb = 100;
  int max_requests = 400;           // read-only ones in flight; 0: no limit
  int max_mutating_requests = 200;  // as above
};

}  // namespace krater::cli
