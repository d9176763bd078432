// How long what was made from a definition holds. Watches end when it does. Any thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace krater::api {

class KindLife {
 public:
  bool over() const { return over_.load(std::memory_order_acquire); }
  // Tells everybody who waits. Idempotent.
  void end();

  // Called when the life ends, on the thread that ends it, or at once when it is over. Dropping
  // the handle takes it back: afterwards the call is not made, nor under way.
  class Waiting {
   public:
    Waiting(std::shared_ptr<KindLife> life, std::uint64_t number)
        : life_(std::move(life)), number_(number) {}
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    std::shared_ptr<KindLife> life_;
    std::uint64_t number_;
  };
  static std::unique_ptr<Waiting> wait(std::shared_ptr<KindLife> life, std::function<void()> call);

 private:
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::function<void()>> calls_;
};

}  // namespace krater::api
