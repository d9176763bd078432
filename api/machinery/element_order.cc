#include "api/machinery/element_order.h"

#include <algorithm>
#include <utility>

namespace krater::api {
namespace {

const Json* identity(const Json& item, const std::string& merge_key) {
  if (merge_key.empty()) return &item;
  const JsonObject* fields = item.if_object();
  return fields == nullptr ? nullptr : fields->if_contains(merge_key);
}

struct Placed {
  std::size_t place;
  Json* item;
};

void sort_by_place(std::vector<Placed>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Placed& a, const Placed& b) { return a.place < b.place; });
}

}  // namespace

ElementPlaces::ElementPlaces(const JsonArray& list, std::string merge_key)
    : merge_key_(std::move(merge_key)), size_(list.size()) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const Json* own = identity(list[i], merge_key_)) places_[to_json(*own)].push_back(i);
  }
}

std::size_t ElementPlaces::of(const Json& item, std::size_t start) const {
  const Json* own = identity(item, merge_key_);
  const auto found = own == nullptr ? places_.end() : places_.find(to_json(*own));
  if (found == places_.end()) return none();
  const auto at = std::lower_bound(found->second.begin(), found->second.end(), start);
  return at == found->second.end() ? none() : *at;
}

Result<void> check_element_order(const JsonArray& patch, const JsonArray& order,
                                 const std::string& merge_key) {
  const ElementPlaces places(order, merge_key);
  std::size_t next = 0;
  for (const Json& item : patch) {
    if (!merge_key.empty() && find(item, {"$patch"}) != nullptr) continue;
    const std::size_t at = places.of(item, next);
    if (at == places.none()) {
      return make_error(Code::BadRequest, "The order in patch list:\n" + to_json(patch) +
                                              "\n doesn't match $setElementOrder list:\n" +
                                              to_json(order));
    }
    next = at + 1;
  }
  return {};
}

void set_element_order(JsonArray& list, const ElementPlaces& order, const ElementPlaces& server) {
  std::vector<Placed> named, own;
  for (Json& item : list) {
    const std::size_t place = order.of(item);
    if (place != order.none()) {
      named.push_back({place, &item});
    } else {
      own.push_back({server.of(item), &item});
    }
  }
  sort_by_place(named);
  sort_by_place(own);
  // An own item comes first only where it stood before the named one; what is new stood nowhere.
  JsonArray out;
  auto next = own.begin();
  for (const Placed& item : named) {
    const std::size_t stood = server.of(*item.item);
    while (next != own.end() && stood != server.none() && next->place < stood)
      out.push_back(std::move(*(next++)->item));
    out.push_back(std::move(*item.item));
  }
  for (; next != own.end(); ++next) out.push_back(std::move(*next->item));
  list = std::move(out);
}

}  // namespace krater::api
