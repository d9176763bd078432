// One client: TLS, requests one after the other, answers, streams, upgrades. Everything runs on the
// connection's strand; stop() comes from anywhere. Exceptions end here: the connection is closed
// and the error logged.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "api/server/server.h"
#include "api/server/service.h"
#include "api/server/upgrade.h"

namespace krater::api {

class Connection {
 public:
  virtual ~Connection() = default;
  // Once. The connection holds itself until it ends.
  virtual void run() = 0;
  // Finish the request in flight, end streams, close. Any thread.
  virtual void stop() = 0;
  // At once. Any thread.
  virtual void cut() = 0;
};

// `ended` runs on the strand as the last thing.
std::shared_ptr<Connection> make_connection(boost::beast::tcp_stream socket,
                                            boost::asio::ssl::context& tls, Service& service,
                                            const ServerLimits& limits,
                                            std::function<void()> ended);

}  // namespace krater::api
