// What must hold of every object, whatever is in it. Each function answers with the first law that
// is broken and with what breaks it; "" when all hold. For fuzzers, and for tests over many seeds.
#pragma once

#include <string>

#include "api/machinery/schema.h"
#include "base/json.h"

namespace krater::api::testing {

// Takes the object through the pipeline of a write: each step done twice is done once, what is
// stored is read again as it was (JSON, YAML, protobuf), what is valid stays valid when it is
// written again unchanged, its owners are read as they were written.
std::string broken_law(const KindSchema& schema, Json object);

// Two managers apply two configurations to a live object, in both orders and with force: the same
// apply twice is one, who conflicts with whom does not depend on the order, force leaves nothing to
// conflict about, and who applies nothing any more leaves nothing of his own behind. What is no
// configuration (unknown fields, wrong types) breaks no law.
std::string broken_apply_law(const KindSchema& schema, Json live, Json one, Json two);

// A user's definition: what is accepted is served, has a document, and what it fills in fits it;
// two objects of it keep all laws above.
std::string broken_definition_law(const Json& definition, const Json& object, const Json& other);

}  // namespace krater::api::testing
