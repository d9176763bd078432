// The life of a verb that serves: what it has in common.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace krater::cli {

// Builds everything and returns what ends it in good order.
using Starter = std::function<Result<std::function<void()>>()>;

// Starts, waits for SIGTERM, SIGINT or SIGHUP, stops; returns the exit code. `data_dir` has a file
// `running` meanwhile: who finds one at the start tells of an end that could not say anything
// itself (SIGKILL, no memory, no power).
int run_until_stopped(const std::string& data_dir, const Starter& start);

}  // namespace krater::cli
