// Kinds that are stored as another kind: the stored object in the form it is served in. Any thread.
#pragma once

#include "api/machinery/schema.h"
#include "model/object.h"

namespace krater::api {

// The object itself for all kinds that are stored as they are served.
ObjectPtr projected(const KindSchema& schema, const ObjectPtr& object);
// The same object at another revision (last state of something that left a selection).
ObjectPtr with_revision(const ObjectPtr& object, Revision revision);

}  // namespace krater::api
