// One entry of status.conditions, as every kind spells it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/object.h"

namespace krater {

struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason, message;
  std::optional<WallTime> last_transition{};

  bool is_true() const { return status == "True"; }
  friend bool operator==(const Condition&, const Condition&) = default;
};

// status.conditions of a document, in order; entries without a type are left out.
std::vector<Condition> conditions_of(const Json& document);
std::optional<Condition> condition_of(const Json& document, std::string_view type);
Json to_json_value(const Condition& condition);

}  // namespace krater
