// Chance that can be had again: a write that is prepared a second time, because webhooks were asked
// meanwhile, gets the same uid and the same name, so that what was said of it still holds. Used by
// one thread at a time.
#pragma once

#include <vector>

#include "base/env.h"

namespace krater::api {

class ReplayedRng final : public Rng {
 public:
  explicit ReplayedRng(Rng& source) : source_(source) {}

  std::uint64_t next() override {
    if (at_ == drawn_.size()) drawn_.push_back(source_.next());
    return drawn_[at_++];
  }
  // From the start, as it was.
  void rewind() { at_ = 0; }
  // From now on new.
  void forget() {
    drawn_.clear();
    at_ = 0;
  }

 private:
  Rng& source_;
  std::vector<std::uint64_t> drawn_;
  std::size_t at_ = 0;
};

}  // namespace krater::api
