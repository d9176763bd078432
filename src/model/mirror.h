// Objects that only show a part of the control plane which runs inside the server: nobody acts on
// them, and they are not edited.
#pragma once

#include <string_view>

#include "model/object.h"

namespace krater {

inline constexpr std::string_view kMirrorLabel = "krater.io/mirror";  // the part's name
inline constexpr std::string_view kMirrorNamespace = "volcano-system";

inline bool is_mirror(const Object& object) {
  return object.name_space() == kMirrorNamespace && !object.label(kMirrorLabel).empty();
}

}  // namespace krater
