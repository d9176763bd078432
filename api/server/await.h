// Between callbacks and coroutines. A callback may come on any thread (the store's writer, a
// tunnel's strand); the coroutine always goes on where it runs.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace krater::api {

// T t = co_await answer_of<T>([&](std::function<void(T)> done) { registry.write(…, done); });
// `done` must be called exactly once.
template <typename T, typename Start>
boost::asio::awaitable<T> answer_of(Start start) {
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(T)>(
      [](auto handler, Start begin) {
        struct State {
          explicit State(decltype(handler) h)
              : resume(std::move(h)),
                work(boost::asio::make_work_guard(boost::asio::get_associated_executor(resume))) {}
          decltype(handler) resume;
          boost::asio::executor_work_guard<boost::asio::associated_executor_t<decltype(handler)>>
              work;
        };
        auto state = std::make_shared<State>(std::move(handler));
        begin([state](T value) {
          auto executor = state->work.get_executor();
          boost::asio::post(executor, [state, held = std::move(value)]() mutable {
            auto resume = std::move(state->resume);
            state->work.reset();
            resume(std::move(held));
          });
        });
      },
      boost::asio::use_awaitable, std::move(start));
}

// A bell that one coroutine waits for and anybody may ring. A ring while nobody waits is kept.
class Bell : public std::enable_shared_from_this<Bell> {
 public:
  explicit Bell(boost::asio::any_io_executor strand) : timer_(std::move(strand)) {}

  // Any thread.
  void ring() {
    boost::asio::post(timer_.get_executor(), [self = shared_from_this()] {
      self->rung_ = true;
      self->timer_.cancel();
    });
  }
  // On the strand: returns at a ring or when `limit` has passed.
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::duration limit) {
    if (!rung_) {
      timer_.expires_after(limit);
      boost::system::error_code ignored;
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    rung_ = false;
  }

 private:
  boost::asio::steady_timer timer_;
  bool rung_ = false;
};

}  // namespace krater::api
