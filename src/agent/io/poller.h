// Tells when a file descriptor can be read or written. An interface, so that only io/asio_poller.cc
// knows Asio. On one loop.
#pragma once

#include <functional>
#include <memory>

namespace krater::agent {

class FdPoller {
 public:
  // Dropping it ends the watch; the handler does not run afterwards. Drop it before closing the
  // descriptor.
  class Watch {
   public:
    virtual ~Watch() = default;
  };
  virtual ~FdPoller() = default;
  // `ready` runs again and again while there is something to read (or the other end is gone).
  virtual std::unique_ptr<Watch> on_readable(int fd, std::function<void()> ready) = 0;
  virtual std::unique_ptr<Watch> on_writable(int fd, std::function<void()> ready) = 0;
};

}  // namespace krater::agent
