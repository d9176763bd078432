// Rules of Volcano's custom resources.
#include <re2/re2.h>

#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {

void volcano_network_topology(const RuleInput& in, FieldErrors& errors) {
  if (find(in.value, {"highestTierAllowed"}) != nullptr &&
      !text_at(in.value, {"highestTierName"}).empty()) {
    errors.invalid(in.path, Json("object"),
                   "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
                   "simultaneously");
  }
}

// What Volcano's webhook refuses.
void hyper_node_spec(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* members = array_at(in.value, {"members"});
  const FieldPath list = in.path.field("members");
  if (members == nullptr || members->empty())
    return errors.invalid(list, Json(JsonArray()), "member must have at least one member");
  for (std::size_t i = 0; i < members->size(); ++i) {
    const Json& member = (*members)[i];
    const FieldPath here = list.index(i);
    const FieldPath selector = here.field("selector");
    const Json* exact = find(member, {"selector", "exactMatch"});
    const Json* pattern = find(member, {"selector", "regexMatch"});
    const Json* labels = find(member, {"selector", "labelMatch"});
    const int given = (exact != nullptr) + (pattern != nullptr) + (labels != nullptr);
    if (given != 1) {
      errors.invalid(selector, Json(given),
                     given == 0
                         ? "member selector must have one of exactMatch, regexMatch or labelMatch"
                         : "member selector cannot have more than one of exactMatch, regexMatch "
                           "and labelMatch");
      continue;
    }
    if (exact != nullptr) {
      const FieldPath match = selector.field("exactMatch");
      const std::string name = text_at(*exact, {"name"});
      if (name.empty()) {
        errors.invalid(match.field("name"), Json(name), "member exactMatch name is required");
      } else if (const std::string problem = check_dns1123_subdomain(name); !problem.empty()) {
        errors.invalid(match.field("name"), Json(name),
                       "member exactMatch validate failed: " + problem);
      }
    }
    if (pattern != nullptr) {
      const FieldPath match = selector.field("regexMatch");
      const std::string text = text_at(*pattern, {"pattern"});
      if (text.empty()) {
        errors.invalid(match.field("pattern"), Json(text), "member regexMatch pattern is required");
      } else if (const re2::RE2 compiled(text, re2::RE2::Quiet); !compiled.ok()) {
        errors.invalid(match.field("pattern"), Json(text),
                       "member regexMatch pattern is invalid: " + compiled.error());
      }
    }
  }
}

}  // namespace krater::api::rules
