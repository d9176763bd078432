// Parts that snapshots share: changed in place as long as nobody else reads them.
#pragma once

#include <memory>

namespace krater::scheduler {

// What is shared must have been made as a T.
template <typename T>
T& edit(std::shared_ptr<const T>& shared) {
  // Somebody else still reads it: go on with a copy.
  if (shared.use_count() > 1) shared = std::make_shared<T>(*shared);
  return const_cast<T&>(*shared);  // made by us, as a T
}

}  // namespace krater::scheduler
