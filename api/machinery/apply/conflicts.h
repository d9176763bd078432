// Fields an apply would change although others own them. Pure.
#pragma once

#include <vector>

#include "api/machinery/apply/field_set.h"
#include "api/machinery/apply/managers.h"
#include "base/result.h"

namespace krater::api {

struct Conflict {
  FieldManager manager;
  FieldSet fields;
};

// Takes `allowed` out of them.
void forgive(std::vector<Conflict>& conflicts, const FieldSet& allowed);
// Code::Conflict, worded as upstream: one cause a field.
Error conflict_error(std::vector<Conflict> conflicts);

}  // namespace krater::api
