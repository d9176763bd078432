#include "runtime/asio_loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_map>

#include "base/check.h"

namespace krater::runtime {

namespace asio = boost::asio;

struct AsioLoop::State {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::unordered_map<TimerId, std::unique_ptr<asio::steady_timer>> timers;
  TimerId last_timer = 0;
  std::atomic<std::thread::id> owner{};
};

AsioLoop::AsioLoop() : state_(std::make_unique<State>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::run() {
  state_->owner = std::this_thread::get_id();
  try {
    state_->context.run();
  } catch (const std::exception& problem) {
    check_failed(__FILE__, __LINE__, "no exception reaches the loop", problem.what());
  }
}

void AsioLoop::stop() {
  state_->context.stop();
}

void AsioLoop::post(Task task) {
  asio::post(state_->context, std::move(task));
}

Loop::TimerId AsioLoop::after(Duration delay, Task task) {
  const TimerId id = ++state_->last_timer;
  auto timer = std::make_unique<asio::steady_timer>(state_->context);
  timer->expires_after(std::max(delay, Duration(0)));
  timer->async_wait([this, id, task = std::move(task)](const boost::system::error_code& problem) {
    if (problem) return;
    // A timer that was cancelled after it had already fired is not in the map any more.
    if (state_->timers.erase(id) != 0) task();
  });
  state_->timers.emplace(id, std::move(timer));
  return id;
}

void AsioLoop::cancel(TimerId timer) {
  state_->timers.erase(timer);
}

SteadyTime AsioLoop::now() const {
  return std::chrono::steady_clock::now();
}

bool AsioLoop::on_loop_thread() const {
  return state_->owner.load() == std::this_thread::get_id();
}

asio::io_context& AsioLoop::context() {
  return state_->context;
}

}  // namespace krater::runtime
