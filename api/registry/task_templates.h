// The pod templates in the tasks of a Volcano Job or CronJob: its published schema hardly looks
// into them, Volcano's webhook applies all of Kubernetes' rules for pod templates. Pure but for the
// schemas.
#pragma once

#include "api/machinery/schema.h"
#include "base/json.h"
#include "base/result.h"
#include "model/kinds.h"

namespace krater::api {

// Code::Forbidden with the webhook's words; nothing to say about other kinds.
Result<void> check_task_templates(const SchemaSet& schemas, const Kind& kind, const Json& object);

}  // namespace krater::api
