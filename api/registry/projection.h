// What is served from what is stored: kinds that are stored as another kind, versions of users' kinds
// that are stored as another version, and objects that are older than their kind's schema. Any
// thread.
#pragma once

#include "api/machinery/schema.h"
#include "model/object.h"

namespace krater::api {

// The object itself for all that is stored as it is served.
ObjectPtr projected(const KindSchema& schema, const ObjectPtr& object);
// The same object at another revision (last state of something that left a selection).
ObjectPtr with_revision(const ObjectPtr& object, Revision revision);

}  // namespace krater::api
