// `krater kubeconfig`: an administrator's kubeconfig on standard output. Needs no running server.
#include <cstdio>

#include "cli/admin.h"
#include "cli/options.h"
#include "runtime/system.h"

namespace krater::cli {

int run_kubeconfig(const KubeconfigOptions& options) {
  const runtime::SystemClock clock;
  const Result<Admin> admin = load_admin(options.data_dir, clock.now());
  if (!admin) {
    std::fprintf(stderr, "krater: %s\n", admin.error().message.c_str());
    return 1;
  }
  const std::string url = options.server_url.empty() ? admin->server_url : options.server_url;
  std::fputs(api::make_kubeconfig("krater", url, admin->ca_pem, admin->client).c_str(), stdout);
  return 0;
}

}  // namespace krater::cli
