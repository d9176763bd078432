// Default roles and bindings that are there already, brought up to date with what this version
// knows.
#pragma once

#include <vector>

#include "client/object_client.h"

namespace krater::api {

// What is to be written, in one transaction, so that the stored object has all that `wanted` has.
// Empty: nothing. Other kinds than roles and bindings are never touched again once they are there.
std::vector<client::Write> upkeep_of(const client::CreateWrite& wanted, const Object& stored);

}  // namespace krater::api
