// managedFields between bodies, stored objects and the rules of api/machinery/apply. Pure.
#pragma once

#include <string_view>

#include "api/machinery/apply/managers.h"
#include "api/machinery/apply/ownership.h"
#include "api/registry/request.h"
#include "base/json.h"

namespace krater::api {

FieldWriter field_writer(const RequestInfo& info, std::string_view subresource, WallTime now);

// Who owns the fields of an object that is being written.
struct Owners {
  FieldManagers list;
  bool as_stored = false;  // those of the object that is there
  bool settled = false;    // this write is already noted
};

// Takes metadata.managedFields out of a body; null when it has none.
Json take_managed_fields(Json& body);
// What the list of a client's body makes of them: one empty entry forgets all; a list of its own
// counts; none, or nonsense, leaves those that are stored, so that clients that know nothing of
// them do no harm. `old` null: there is no such object. Only the main door takes lists.
Owners owners_sent(Json list, const Json* old, std::string_view subresource);
// Nothing for an object that nobody has tracked.
FieldManagers managers_of(const Json& object);
void set_managers(Json& object, FieldManagers managers);
Json without_managers(const Json& object);
bool same_but_managers(const Json& a, const Json& b);

}  // namespace krater::api
