// `krater server`: API, store, controllers and scheduler, until SIGTERM.
#include <cstdio>

#include "base/log.h"
#include "cli/options.h"
#include "cli/server_process.h"
#include "runtime/asio_loop.h"
#include "runtime/system.h"

namespace krater::cli {

int run_server(const ServerOptions& options) {
  runtime::AsioLoop loop;
  const runtime::StopSignals signals(loop, [&](int) { loop.stop(); });
  const Result<std::unique_ptr<ServerProcess>> server = ServerProcess::start(options);
  if (!server) {
    std::fprintf(stderr, "krater: %s\n", server.error().message.c_str());
    return 1;
  }
  loop.run();
  log::info("stopping");
  (*server)->stop();
  log::info("stopped");
  return 0;
}

}  // namespace krater::cli
