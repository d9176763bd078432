// ObjectMeta: which of its fields the client may say, which the server owns, and when generation
// grows. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/admission/causes.h"
#include "api/machinery/schema.h"
#include "base/env.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// Body against URL: apiVersion and kind (filled in when absent), namespace (filled in), metadata an
// object. Code::BadRequest when they contradict.
Result<void> place_body(const KindSchema& schema, std::string_view name_space, Json& object);
// Updates: the name in the body is the one in the URL.
Result<void> check_body_name(std::string_view name, const Json& object);

// The server's fields of a new object. Code::BadRequest for a body with a resourceVersion.
Result<void> begin_metadata(const KindSchema& schema, Json& object, std::string_view uid,
                            WallTime now);
// The server's fields of a changed object come from the old one, whatever the body says.
void keep_metadata(Json& object, const Json& old);
// Drops empty maps and lists and repeated owner references, which are worth a warning.
void tidy_metadata(Json& object, std::vector<std::string>& warnings);

// What is odd about finalizers of users' kinds that `old` (null on create) does not have.
void warn_of_finalizers(const Json& object, const Json* old, std::vector<std::string>& warnings);

// Base cut to 58 characters and a random suffix of 5.
std::string generate_name(std::string_view base, Rng& rng);

// Sets metadata.generation of a changed object.
void count_generation(const KindSchema& schema, Json& object, const Json& old);

// Nothing new may hold an object that is being deleted. (All else about metadata is the schema's.)
Causes validate_finalizers(const Json& object, const Json* old);

}  // namespace krater::api
