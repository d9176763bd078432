// What a delete comes to, and when an object that is being deleted may go. Pure.
#pragma once

#include <optional>

#include "base/json.h"
#include "base/time.h"
#include "client/object_client.h"
#include "model/kinds.h"

namespace krater::api {

enum class Deletion {
  Nothing,  // already on its way, no sooner than this
  Mark,     // stays, being deleted: finalizers or a pod's grace period hold it
  Remove,   // goes now
};

// Changes `object` into what should be stored (Mark) or is its last state (Remove).
Deletion decide_deletion(const Kind& kind, Json& object, const client::DeleteWrite& options,
                         WallTime now);

// Being deleted, and nothing holds it any more.
bool may_go(const Kind& kind, const Json& object);

}  // namespace krater::api
