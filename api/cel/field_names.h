// Names of fields in expressions: what is no identifier is escaped as Kubernetes escapes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krater::cel {

// "a-b" -> "a__dash__b", "namespace" -> "__namespace__"; nullopt: no name in expressions.
std::optional<std::string> escape_field(std::string_view name);

}  // namespace krater::cel
