#include "base/json_members.h"

#include <string_view>
#include <unordered_set>

namespace krater {

void erase_members(JsonObject& object, const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 8;
  if (names.size() <= kFew) {
    for (const std::string& name : names) object.stable_erase(name);
    return;
  }
  const std::unordered_set<std::string_view> gone(names.begin(), names.end());
  JsonObject kept(object.storage());
  for (auto& entry : object) {
    if (!gone.contains(std::string_view(entry.key().data(), entry.key().size())))
      kept.emplace(entry.key(), std::move(entry.value()));
  }
  object = std::move(kept);
}

}  // namespace krater
