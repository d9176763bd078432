#include "api/registry/request.h"

namespace krater::api {

std::array<std::string_view, 3> WatchEvent::pieces() const {
  std::string_view head;
  switch (type) {
    case Type::Added:
      head = R"({"type":"ADDED","object":)";
      break;
    case Type::Modified:
      head = R"({"type":"MODIFIED","object":)";
      break;
    case Type::Deleted:
      head = R"({"type":"DELETED","object":)";
      break;
    case Type::Bookmark:
      head = R"({"type":"BOOKMARK","object":)";
      break;
    case Type::Error:
      head = R"({"type":"ERROR","object":)";
      break;
  }
  return {head, *json, "}\n"};
}

}  // namespace krater::api
