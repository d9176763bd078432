// What is allowed in a queue but hardly meant. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler/config.h"
#include "scheduler/info.h"

namespace krater::scheduler {

// Fields that nothing in this configuration reads.
std::vector<std::string_view> pitfalls(const Config& config, const QueueInfo& queue);

}  // namespace krater::scheduler
