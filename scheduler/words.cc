#include "scheduler/words.h"

#include <string>

#include "base/strings.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// No key holds a NUL, and the first letter tells labels from annotations.
std::uint64_t word(char kind, std::string_view key, std::string_view value) {
  std::string text(1, kind);
  text.reserve(key.size() + value.size() + 2);
  text.append(key).append(1, '\0').append(value);
  return fnv1a(text);
}

}  // namespace

std::uint64_t words_of(const ObjectView& object) {
  std::uint64_t out = 0;
  if (!object) return out;
  for (const auto& [key, value] : object->labels()) out += word('l', key, value);
  const Json* annotations = find(object.document(), {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return out;
  for (const auto& one : annotations->get_object()) {
    const std::string_view key(one.key().data(), one.key().size());
    if (key == kWhyPending || key == kAllocatedHyperNode || !one.value().is_string()) continue;
    out += word('a', key, view(one.value().get_string()));
  }
  return out;
}

}  // namespace krater::scheduler
