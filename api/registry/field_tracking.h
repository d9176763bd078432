// managedFields between bodies, stored objects and the rules of api/machinery/apply. Pure.
#pragma once

#include <string_view>

#include "api/machinery/apply/managers.h"
#include "api/machinery/apply/ownership.h"
#include "api/registry/request.h"
#include "base/json.h"

namespace krater::api {

FieldWriter field_writer(const RequestInfo& info, std::string_view subresource, WallTime now);

// Nothing for an object that nobody has tracked.
FieldManagers managers_of(const Json& object);
// What a client's body makes of them: one empty entry forgets all; a list of its own counts; none,
// or nonsense, leaves those of `old`, so that clients that know nothing of them do no harm.
FieldManagers managers_sent(const Json& body, const Json* old);
void set_managers(Json& object, FieldManagers managers);
Json without_managers(Json object);
bool same_but_managers(const Json& a, const Json& b);

}  // namespace krater::api
