// In which order a patched list stands: what the patch names in the patch's order, the server's own
// items between them where they stood before. Mirrors strategicpatch of k8s.io/apimachinery. Pure.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// Where the items of a list stand, told apart by `merge_key`, or by what they are when it is empty.
class ElementPlaces {
 public:
  ElementPlaces() = default;
  ElementPlaces(const JsonArray& list, std::string merge_key);

  // The first place at or after `start`; none() when there is none.
  std::size_t of(const Json& item, std::size_t start = 0) const;
  std::size_t none() const { return size_; }
  bool contains(const Json& item) const { return of(item) != none(); }

 private:
  std::string merge_key_;
  std::size_t size_ = 0;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;  // rising
};

// A patch's list must name its items in the order that $setElementOrder gives. Code::BadRequest.
Result<void> check_element_order(const JsonArray& patch, const JsonArray& order,
                                 const std::string& merge_key);

// `order`: of the items that the patch names. `server`: of the list before the patch.
void set_element_order(JsonArray& list, const ElementPlaces& order, const ElementPlaces& server);

}  // namespace krater::api
