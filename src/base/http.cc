#include "base/http.h"

#include "base/strings.h"

namespace krater {

std::string_view HttpResponse::header(std::string_view name) const {
  const std::string wanted = to_lower(name);
  for (const auto& [key, value] : headers) {
    if (to_lower(key) == wanted) return value;
  }
  return {};
}

}  // namespace krater
