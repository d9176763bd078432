// What every cluster has from its first start on: namespaces, the system priority classes, a
// class of storage, roles and their bindings.
#pragma once

#include <functional>

#include "api/registry/registry.h"

namespace krater::api {

// Creates what is missing and brings roles and bindings up to date (default_roles_upkeep.h).
// Answers once, with the first error that is not AlreadyExists.
void create_default_objects(Registry& registry, std::function<void(Result<void>)> done);

}  // namespace krater::api
