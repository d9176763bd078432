#include "api/auth/history.h"

#include "base/log.h"

namespace krater::api {
namespace {

constexpr int kRestarts = 3;

}  // namespace

bool History::catch_up(bool& started, const std::function<void()>& clear,
                       const std::function<void(const ObjectChange&)>& apply) const {
  for (int attempt = 0; attempt < kRestarts; ++attempt) {
    if (!started) {
      clear();
      if (const Result<void> restarted = restart(); !restarted) {
        log::error("auth.history", {{"why", restarted.error().message}});
        return false;
      }
      started = true;
    }
    const Result<std::vector<ObjectChange>> changes = pull();
    if (changes) {
      for (const ObjectChange& change : *changes) apply(change);
      return true;
    }
    started = false;
  }
  return false;
}

}  // namespace krater::api
