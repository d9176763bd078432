// The in-process ObjectClient: controllers and scheduler reach the registry without HTTP and
// without encoding; the objects they are handed are the store's own. Welded to one Loop: called on
// it, answers on it.
#pragma once

#include <memory>
#include <string>

#include "api/registry/registry.h"
#include "base/env.h"
#include "client/object_client.h"

namespace krater::api {

// `user` is whom writes are made as ("system:kube-scheduler"). Registry and loop must outlive the
// client; callbacks that are under way when the client is dropped do not run.
std::unique_ptr<client::ObjectClient> make_local_client(Registry& registry, Loop& loop,
                                                        std::string user);

}  // namespace krater::api
