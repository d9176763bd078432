#include "cli/loop_thread.h"

#include <pthread.h>

#include "base/check.h"
#include "base/last_words.h"

namespace krater::cli {

void LoopThread::start() {
  thread_ = std::thread([this] {
    prepare_thread_for_last_words();
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
    loop_.run();
  });
}

void LoopThread::stop() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
}

void LoopThread::run_and_wait(std::function<void()> task) {
  CHECK(thread_.joinable() && !loop_.on_loop_thread());
  std::promise<void> done;
  loop_.post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace krater::cli
