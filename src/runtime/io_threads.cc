#include "runtime/io_threads.h"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/last_words.h"
#include "base/log.h"

namespace krater::runtime {

struct IoThreads::State {
  explicit State(int count) : context(count), work(context.get_executor()) {}
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  std::vector<std::thread> threads;
};

namespace {

// Beast throws this for a header field or trailer longer than it can hold. The connection that sent
// it has ended with the exception; the others go on.
bool run_until_too_long(boost::asio::io_context& context) {
  try {
    context.run();
    return true;
  } catch (const std::length_error& problem) {
    log::warn("io.message_refused", {{"error", problem.what()}});
    return false;
  } catch (const std::exception& problem) {
    check_failed(__FILE__, __LINE__, "no exception reaches an io thread", problem.what());
  }
}

void run(boost::asio::io_context& context) {
  while (!run_until_too_long(context)) {
  }
}

}  // namespace

IoThreads::IoThreads(int threads) : state_(std::make_unique<State>(threads)) {
  for (int i = 0; i < threads; ++i) {
    state_->threads.emplace_back([this] {
      prepare_thread_for_last_words();
      pthread_setname_np(pthread_self(), "krater-io");
      run(state_->context);
    });
  }
}

IoThreads::~IoThreads() {
  stop();
}

boost::asio::io_context& IoThreads::context() {
  return state_->context;
}

void IoThreads::stop() {
  state_->context.stop();
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace krater::runtime
