// The YAML files of this folder as compact JSON, compiled into the binary by compile.py.
#pragma once

#include <string_view>
#include <vector>

namespace krater::api {

// One JSON object a file: {"package", "kind"?, "types"}. Discovery order: core kinds first.
const std::vector<std::string_view>& embedded_schemas();

}  // namespace krater::api
