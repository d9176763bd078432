// A write of the status alone.
#pragma once

#include "client/object_client.h"

namespace krater::client {

// The status of `object` is to be this, unless the object has moved on. No more of it goes along
// than says which it is.
UpdateWrite status_update(const Kind& kind, const Object& object, Json status);

}  // namespace krater::client
