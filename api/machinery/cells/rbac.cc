// Roles and their bindings.
#include "api/machinery/cells/cells.h"

namespace krater::api::cells {
namespace {

// The subjects of one kind: "a, b"; service accounts as namespace/name.
std::string subjects(const Json& binding, std::string_view kind) {
  const JsonArray* list = array_at(binding, {"subjects"});
  std::string out;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& subject = (*list)[i];
    if (text_at(subject, {"kind"}) != kind) continue;
    if (!out.empty()) out += ", ";
    if (kind == "ServiceAccount") out += text_at(subject, {"namespace"}) + "/";
    out += text_at(subject, {"name"});
  }
  return out;
}

}  // namespace

JsonArray role(const Json& object, WallTime) {
  return {Json(name(object)), Json(text_at(object, {"metadata", "creationTimestamp"}))};
}

JsonArray role_binding(const Json& object, WallTime now) {
  return {Json(name(object)),
          Json(text_at(object, {"roleRef", "kind"}) + "/" + text_at(object, {"roleRef", "name"})),
          Json(age(object, now)),
          Json(subjects(object, "User")),
          Json(subjects(object, "Group")),
          Json(subjects(object, "ServiceAccount"))};
}

}  // namespace krater::api::cells
