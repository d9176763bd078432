// An io_context with several threads: what the HTTP server runs on.
#pragma once

#include <memory>

namespace boost::asio {
class io_context;
}

namespace krater::runtime {

class IoThreads {
 public:
  // Threads start at once and run until stop().
  explicit IoThreads(int threads);
  ~IoThreads();
  boost::asio::io_context& context();
  // Not from one of its own threads. What is queued does not run. Idempotent.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krater::runtime
