// The server under load, as a kubeconfig names it.
#pragma once

#include <string>

#include "runtime/tls.h"

namespace krater::bench {

struct Target {
  std::string name;  // what the figures are printed under
  std::string url;
  runtime::TlsIdentity identity;
};

// Ends the program when the file is not a kubeconfig with a client certificate.
Target target_of(const std::string& kubeconfig_path, std::string name);

}  // namespace krater::bench
