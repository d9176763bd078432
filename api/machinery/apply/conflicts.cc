#include "api/machinery/apply/conflicts.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::api {

void forgive(std::vector<Conflict>& conflicts, const FieldSet& allowed) {
  for (Conflict& conflict : conflicts) conflict.fields = subtract(conflict.fields, allowed);
  std::erase_if(conflicts, [](const Conflict& conflict) { return conflict.fields.empty(); });
}

Error conflict_error(std::vector<Conflict> conflicts) {
  std::stable_sort(conflicts.begin(), conflicts.end(), [](const Conflict& a, const Conflict& b) {
    return describe(a.manager) < describe(b.manager);
  });
  Error error = make_error(Code::Conflict, "");
  std::vector<std::string> lines;
  for (const Conflict& conflict : conflicts) {
    const std::string who = describe(conflict.manager);
    lines.push_back("conflicts with " + who + ":");
    for (std::string& path : path_texts(conflict.fields)) {
      lines.push_back("- " + path);
      error.causes.push_back({"FieldManagerConflict", "conflict with " + who, std::move(path)});
    }
  }
  if (error.causes.size() == 1) {
    error.message = "Apply failed with 1 conflict: " + error.causes.front().message + ": " +
                    error.causes.front().field;
  } else {
    error.message = "Apply failed with " + std::to_string(error.causes.size()) +
                    " conflicts: " + join(lines, "\n");
  }
  return error;
}

}  // namespace krater::api
