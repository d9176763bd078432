#include "agent/io/asio_poller.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace krater::agent {
namespace {

using boost::asio::posix::stream_descriptor;

// Watches a duplicate, so that the owner may close its descriptor whenever it likes.
class AsioWatch final : public FdPoller::Watch {
 public:
  AsioWatch(boost::asio::io_context& context, int fd, stream_descriptor::wait_type what,
            std::function<void()> ready)
      : state_(std::make_shared<State>(
            State{stream_descriptor(context, ::dup(fd)), what, std::move(ready), true})) {
    arm(state_);
  }
  ~AsioWatch() override {
    state_->wanted = false;
    boost::system::error_code ignored;
    state_->descriptor.close(ignored);
  }

 private:
  struct State {
    stream_descriptor descriptor;
    stream_descriptor::wait_type what;
    std::function<void()> ready;
    bool wanted;
  };
  static void arm(const std::shared_ptr<State>& state) {
    state->descriptor.async_wait(state->what, [state](const boost::system::error_code& failure) {
      if (failure || !state->wanted) return;
      state->ready();
      if (state->wanted) arm(state);
    });
  }
  std::shared_ptr<State> state_;
};

class AsioPoller final : public FdPoller {
 public:
  explicit AsioPoller(boost::asio::io_context& context) : context_(context) {}
  std::unique_ptr<Watch> on_readable(int fd, std::function<void()> ready) override {
    return std::make_unique<AsioWatch>(context_, fd, stream_descriptor::wait_read,
                                       std::move(ready));
  }
  std::unique_ptr<Watch> on_writable(int fd, std::function<void()> ready) override {
    return std::make_unique<AsioWatch>(context_, fd, stream_descriptor::wait_write,
                                       std::move(ready));
  }

 private:
  boost::asio::io_context& context_;
};

}  // namespace

std::unique_ptr<FdPoller> make_asio_poller(boost::asio::io_context& context) {
  return std::make_unique<AsioPoller>(context);
}

}  // namespace krater::agent
