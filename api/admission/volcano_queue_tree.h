// What a queue may be to its relatives: where it hangs, and what all children may have of their
// parent. Pure; the words are those of Volcano's queue webhook.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"
#include "base/quantity.h"

namespace krater::api {

using QueueAmounts = std::map<std::string, Quantity>;
using Queues = std::map<std::string, ObjectPtr>;  // by name

// Quantities that do not parse are the schema's to refuse; they are left out.
QueueAmounts queue_capability(const Json& queue);
QueueAmounts queue_deserved(const Json& queue);
QueueAmounts queue_guarantee(const Json& queue);
Quantity allocated_pods(const Json& queue);  // by its status

std::vector<ObjectPtr> queue_children(std::string_view name, const Queues& all);

// The parent is there, not below the queue itself, not too deep down, and holds no pods of its own.
Result<void> check_queue_parent(const Admission& admission, const Queues& all);

// No capability above that of an ancestor; below another parent than root the children share what
// the parent has.
Result<void> check_queue_shares(const Admission& admission, const Queues& all);

}  // namespace krater::api
