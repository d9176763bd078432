// Field errors as Kubernetes words them: "<path>: <type>: <detail>" with the cause's reason. Pure.
// `shown` is the offending value as it is printed: JSON text, strings in quotes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace krater::api {

using Causes = std::vector<Cause>;

std::string quoted(std::string_view text);  // "text" with JSON escapes

Cause required_value(std::string field, std::string_view detail = {});
Cause invalid_value(std::string field, std::string_view shown, std::string_view detail);
Cause forbidden_value(std::string field, std::string_view detail);
Cause duplicate_value(std::string field, std::string_view shown);
Cause unsupported_value(std::string field, std::string_view shown,
                        const std::vector<std::string>& supported);
Cause value_not_found(std::string field, std::string_view shown);
Cause too_long(std::string field, std::size_t limit_bytes);

// The text of one cause as it stands in a message: "<field>: <message>".
std::string text_of(const Cause& cause);

}  // namespace krater::api
