// Priority classes: two that are the system's, and one global default at most.

#include "api/admission/rules.h"

namespace krater::api {
namespace {

bool is_system(std::string_view name) {
  return name == "system-cluster-critical" || name == "system-node-critical";
}

}  // namespace

Result<void> admit_priority_class(const Admission& admission) {
  if (admission.operation == Operation::Delete) {
    if (is_system(admission.name))
      return refusal("this is a system priority class and cannot be deleted");
    return {};
  }
  if (!bool_at(admission.object, {"globalDefault"}).value_or(false)) return {};
  TRY_ASSIGN(const std::vector<ObjectPtr> classes,
             admission.reader.list(kinds::kPriorityClass, ""));
  for (const ObjectPtr& other : classes) {
    if (other->name() == admission.name ||
        !bool_at(*other->document(), {"globalDefault"}).value_or(false))
      continue;
    return refusal("PriorityClass " + other->name() +
                   " is already marked as default. Only one default can exist");
  }
  return {};
}

}  // namespace krater::api
