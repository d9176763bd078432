#include "base/json_same.h"

#include <algorithm>

namespace krater {

bool same_json(const Json& a, const Json& b) {
  if (a.is_object() && b.is_object()) {
    const JsonObject& left = a.get_object();
    const JsonObject& right = b.get_object();
    if (left.size() != right.size()) return false;
    // Mostly both have them in one order.
    const auto* beside = right.begin();
    for (const auto& member : left) {
      const auto* other = beside->key() == member.key() ? beside : right.find(member.key());
      if (other == right.end() || !same_json(member.value(), other->value())) return false;
      ++beside;
    }
    return true;
  }
  if (a.is_array() && b.is_array()) {
    const JsonArray& left = a.get_array();
    const JsonArray& right = b.get_array();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_json);
  }
  return a == b;
}

}  // namespace krater
