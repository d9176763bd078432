// For tables by key that nobody reads in order.
#pragma once

#include <functional>
#include <string>

#include "model/object.h"

namespace krater {

struct ObjectKeyHash {
  std::size_t operator()(const ObjectKey& key) const noexcept {
    const std::hash<std::string> hash;
    return (hash(key.name) * 31 + hash(key.name_space)) * 31 + hash(key.resource);
  }
};

}  // namespace krater
