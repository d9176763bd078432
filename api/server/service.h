// From a request to a response: who asks, what for, may he, who answers. Knows no socket. Any io
// thread.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "api/server/deps.h"
#include "api/server/http.h"

namespace krater::api {

class Service {
 public:
  explicit Service(Deps& deps) : deps_(deps) {}
  // Counts and logs the request. `request` must live until the response's stream or upgrade has
  // ended.
  boost::asio::awaitable<Response> handle(const Request& request);

 private:
  boost::asio::awaitable<Response> answer(const Request& request, Metrics::Labels& labels);
  Deps& deps_;
};

}  // namespace krater::api
