// An HTTP client as an interface, so that controllers (Ray dashboard), the agent (API server,
// probes) and tests need no socket. src/runtime implements it over Asio; everything is called and
// answered on the client's Loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace krater {

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http://host:port/path?query or https://…
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  Duration timeout =
      std::chrono::seconds(10);  // whole exchange; for streams: until the head of the reply
  std::size_t max_reply_bytes = 1 << 20;  // more is Code::TooLarge
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  // Case-insensitive; "" when absent.
  std::string_view header(std::string_view name) const;
};

// Dropping it cancels the exchange; no handler runs afterwards.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
};

struct HttpStreamHandlers {
  std::function<void(const HttpResponse& head)>
      on_head{};  // body empty; for status >= 300 the body is filled and on_end follows
  std::function<void(std::string_view data)> on_data{};
  std::function<void(Result<void> end)> on_end{};  // once, last
};

class HttpClient {
 public:
  using Done = std::function<void(Result<HttpResponse>)>;
  virtual ~HttpClient() = default;
  // Code::Timeout, Code::Unavailable (no connection), Code::TooLarge. Any HTTP status is a value.
  virtual std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) = 0;
  virtual std::unique_ptr<HttpExchange> stream(HttpRequest request,
                                               HttpStreamHandlers handlers) = 0;
};

}  // namespace krater
