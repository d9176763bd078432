#include "api/machinery/schema_node.h"

#include <algorithm>

namespace krater::api {

const Property* SchemaNode::property(std::string_view name) const {
  auto at = std::lower_bound(
      properties.begin(), properties.end(), name,
      [](const Property& property, std::string_view wanted) { return property.name < wanted; });
  return at != properties.end() && at->name == name ? &*at : nullptr;
}

std::string_view SchemaNode::short_name() const {
  const std::string_view name = type_name;
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace krater::api
