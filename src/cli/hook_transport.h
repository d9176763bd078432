// Webhooks over HTTPS: a client with its own connections for each set of authorities. Lives on one
// loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/webhook/caller.h"
#include "api/webhook/service_endpoints.h"

namespace krater::runtime {
class AsioLoop;
}

namespace krater::cli {

// Where a service is now.
using FindService =
    std::function<Result<std::vector<api::HostPort>>(const api::HookService& service)>;

// Made and dropped on any thread while the loop does not run, else on the loop.
std::unique_ptr<api::HookTransport> make_hook_transport(runtime::AsioLoop& loop, FindService find);

}  // namespace krater::cli
