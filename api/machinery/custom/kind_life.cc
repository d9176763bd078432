#include "api/machinery/custom/kind_life.h"

#include <utility>

namespace krater::api {

void KindLife::end() {
  const std::lock_guard lock(mutex_);
  if (over_.exchange(true, std::memory_order_acq_rel)) return;
  for (const auto& [number, call] : calls_) call();
  calls_.clear();
}

std::unique_ptr<KindLife::Waiting> KindLife::wait(std::shared_ptr<KindLife> life,
                                                  std::function<void()> call) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(life->mutex_);
    number = life->next_++;
    if (!life->over()) {
      life->calls_.emplace(number, std::move(call));
      call = nullptr;
    }
  }
  if (call) call();
  return std::make_unique<Waiting>(std::move(life), number);
}

KindLife::Waiting::~Waiting() {
  const std::lock_guard lock(life_->mutex_);
  life_->calls_.erase(number_);
}

}  // namespace krater::api
