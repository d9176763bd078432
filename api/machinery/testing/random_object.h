// Random objects: by the schema of a built-in kind, by the openAPIV3Schema of a user's kind, or by
// nothing at all. Mostly sensible, sometimes not. Same choices, same object.
#pragma once

#include "api/machinery/schema.h"
#include "api/machinery/testing/choices.h"
#include "base/json.h"

namespace krater::api::testing {

// A whole object of the kind: apiVersion, kind, metadata and what the choices say of the rest.
Json random_object(const KindSchema& schema, Choices& choices);
// A value by an openAPIV3Schema.
Json random_value(const Json& schema, Choices& choices);
Json random_json(Choices& choices, int depth = 0);
std::string random_text(Choices& choices);

}  // namespace krater::api::testing
