#include "cli/until_stopped.h"

#include <unistd.h>

#include <cstdio>

#include "base/last_words.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/files.h"
#include "runtime/asio_loop.h"
#include "runtime/stop_signals.h"

namespace krater::cli {
namespace {

// After the start: whoever serves this directory already has kept us from it.
void mark_run(const std::string& mark) {
  if (const Result<std::string> left = read_file(mark)) {
    log::warn("previous_run.vanished",
              {{"pid", trim(*left)}, {"likely", "SIGKILL, out of memory, or a restart of the machine"}});
  }
  if (const Result<void> made = write_file(mark, std::to_string(::getpid()) + "\n", 0644); !made)
    log::warn("run.mark", {{"error", made.error().message}});
}

}  // namespace

int run_until_stopped(const std::string& data_dir, const Starter& start) {
  prepare_last_words();
  runtime::AsioLoop loop;
  const runtime::StopSignals signals(loop, [&] { loop.stop(); });
  const Result<std::function<void()>> stop = start();
  if (!stop) {
    std::fprintf(stderr, "krater: %s\n", stop.error().message.c_str());
    return 1;
  }
  const std::string mark = data_dir + "/running";
  mark_run(mark);
  loop.run();
  log::info("stopping");
  (*stop)();
  ::unlink(mark.c_str());
  log::info("stopped");
  return 0;
}

}  // namespace krater::cli
