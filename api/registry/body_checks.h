// What is looked at before a body becomes an object of the store, where the schema does not say it.
// Pure; any thread.
#pragma once

#include "api/machinery/schema.h"
#include "api/registry/request.h"

namespace krater::api {

// An applied configuration says what type of object it is of, and that is the kind's. `whole`: it
// must say so; what this process applies need not. Code::BadRequest.
Result<void> check_applied_type(const Kind& kind, const Json& config, bool whole);

// A patch may not change the uid. Code::Invalid; a whole object with another one is Code::Conflict,
// which is not said here.
Result<void> check_patched_uid(const Kind& kind, const Json& body, const Object& old);

// Of Ray's and Volcano's kinds: a value of the wrong type is told before admission, for which it
// would look like one that is missing. Code::Invalid.
Result<void> check_shape(const KindSchema& schema, const RequestInfo& info, const Json& object);

}  // namespace krater::api
