// What happened to objects of some kinds since the last question: how authorization keeps an index
// of them that is never older than the question, with nothing running while nobody asks.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "model/object.h"

namespace krater::api {

struct ObjectChange {
  ObjectPtr object;
  bool gone = false;
};

// `pull` answers all changes since its last call (the first call: all objects). An error (history
// compacted under the reader) means to start anew: `restart`, then `pull`. Not thread safe.
struct History {
  std::function<Result<void>()> restart;
  std::function<Result<std::vector<ObjectChange>>()> pull;

  // Brings an index up to date: `clear` before everything comes anew, `apply` for each change.
  // False when the objects cannot be read: then the index is empty or old and must not be used.
  bool catch_up(bool& started, const std::function<void()>& clear,
                const std::function<void(const ObjectChange&)>& apply) const;
};

}  // namespace krater::api
