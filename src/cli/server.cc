// `krater server`: API, store, controllers and scheduler, until SIGTERM.
#include <functional>
#include <memory>

#include "cli/options.h"
#include "cli/server_process.h"
#include "cli/until_stopped.h"

namespace krater::cli {

int run_server(const ServerOptions& options) {
  return run_until_stopped(options.data_dir, [&]() -> Result<std::function<void()>> {
    TRY_ASSIGN(const std::shared_ptr<ServerProcess> server, ServerProcess::start(options));
    return std::function<void()>([server] { server->stop(); });
  });
}

}  // namespace krater::cli
