// Random CustomResourceDefinitions: mostly such that they are accepted. Same choices, same
// definition.
#pragma once

#include "api/machinery/testing/choices.h"
#include "base/json.h"

namespace krater::api::testing {

// An openAPIV3Schema, structural but for the odd slip.
Json random_schema(Choices& choices);
// things.fuzz.example.com, established, one version v1.
Json random_definition(Choices& choices);
// An object of it.
Json random_thing(const Json& definition, Choices& choices);

}  // namespace krater::api::testing
