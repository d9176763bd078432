// $setElementOrder of strategic merge patches: the order that the client wants for the items it
// knows. Pure.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// Items are scalars when `merge_key` is empty, else objects that are told apart by it.
// Code::BadRequest when the patch list is in another order than `order`, or has an item that
// `order` lacks.
Result<void> check_element_order(const JsonArray& patch, const JsonArray& order,
                                 const std::string& merge_key);

// Sorts the items named in `order` into that order; items only the server has stay behind the item
// they followed.
void set_element_order(JsonArray& list, const JsonArray& order, const std::string& merge_key);

}  // namespace krater::api
