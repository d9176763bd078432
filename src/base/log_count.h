// How many lines of Level::Error have been written since start, whatever the threshold.
// Simulations assert that it stays 0. Any thread.
#pragma once

#include <cstdint>

namespace krater::log {

std::uint64_t errors_written();

}  // namespace krater::log
