// Which old value a new one comes from: by name in maps, by keys in lists of kind Map, and nowhere
// else. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/machinery/custom/structural.h"
#include "base/json.h"

namespace krater::api {

// nullptr when there was none, or none can be told.
const Json* old_member(const Structural& schema, const Json* old, std::string_view name);

// What tells an item of a list of kind Map from the others, as JSON text.
std::string list_key(const Structural& list, const Json& item);

// The items of a list as they were; valid as long as `old`.
class OldItems {
 public:
  OldItems(const Structural& list, const Json* old);
  const Json* of(const Json& item) const;

 private:
  const Structural& list_;
  std::map<std::string, const Json*> by_key_;
};

}  // namespace krater::api
