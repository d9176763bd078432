// deletecollection: one delete after the other.
#pragma once

#include <vector>

#include "api/registry/registry.h"

namespace krater::api {

// Objects that vanish meanwhile, or are replaced by another of the same name, are left out of the
// answer.
void delete_each(Registry& registry, const Kind& kind, std::vector<ObjectPtr> items,
                 client::DeleteWrite options, RequestInfo info, Registry::ManyDone done);

}  // namespace krater::api
