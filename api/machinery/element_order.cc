#include "api/machinery/element_order.h"

#include <algorithm>

namespace krater::api {
namespace {

const Json* identity(const Json& item, const std::string& merge_key) {
  if (merge_key.empty()) return &item;
  const JsonObject* fields = item.if_object();
  return fields == nullptr ? nullptr : fields->if_contains(merge_key);
}

// Position in `order` from `start` on; order.size() when it is not there.
std::size_t position(const Json& item, const JsonArray& order, const std::string& merge_key,
                     std::size_t start) {
  const Json* own = identity(item, merge_key);
  for (std::size_t i = start; i < order.size() && own != nullptr; ++i) {
    const Json* other = identity(order[i], merge_key);
    if (other != nullptr && *other == *own) return i;
  }
  return order.size();
}

}  // namespace

Result<void> check_element_order(const JsonArray& patch, const JsonArray& order,
                                 const std::string& merge_key) {
  std::size_t next = 0;
  for (const Json& item : patch) {
    if (!merge_key.empty() && find(item, {"$patch"}) != nullptr) continue;
    const std::size_t at = position(item, order, merge_key, next);
    if (at == order.size()) {
      return make_error(Code::BadRequest, "The order in patch list:\n" + to_json(patch) +
                                              "\n doesn't match $setElementOrder list:\n" +
                                              to_json(order));
    }
    next = at + 1;
  }
  return {};
}

void set_element_order(JsonArray& list, const JsonArray& order, const std::string& merge_key) {
  // Each run is an ordered item with the server's own items that follow it; run 0 are those before
  // any ordered one.
  struct Run {
    std::size_t rank;
    std::vector<Json> items;
  };
  std::vector<Run> runs{{0, {}}};
  for (Json& item : list) {
    const std::size_t at = position(item, order, merge_key, 0);
    if (at < order.size()) runs.push_back({at + 1, {}});
    runs.back().items.push_back(std::move(item));
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.rank < b.rank; });
  JsonArray out;
  for (Run& run : runs) {
    for (Json& item : run.items) out.push_back(std::move(item));
  }
  list = std::move(out);
}

}  // namespace krater::api
