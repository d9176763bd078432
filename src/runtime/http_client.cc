#include "runtime/http_client.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <vector>

#include "runtime/asio_loop.h"
#include "runtime/connection.h"

namespace krater::runtime {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kIdlePerHost = 32;
constexpr std::size_t kChunkBytes = 64 * 1024;

// Idle keep-alive connections by host.
class Pool {
 public:
  // Those that presented another identity are closed.
  ConnectionPtr take(const std::string& key, const asio::ssl::context* identity) {
    std::vector<ConnectionPtr>& idle = idle_[key];
    while (!idle.empty()) {
      ConnectionPtr out = std::move(idle.back());
      idle.pop_back();
      if (out->context && out->context.get() != identity) {
        out->close();
        continue;
      }
      out->used_before = true;
      return out;
    }
    return nullptr;
  }
  void give(const std::string& key, ConnectionPtr connection) {
    std::vector<ConnectionPtr>& idle = idle_[key];
    if (idle.size() >= kIdlePerHost) return;
    connection->tcp().expires_never();
    idle.push_back(std::move(connection));
  }

 private:
  std::map<std::string, std::vector<ConnectionPtr>> idle_;
};

// What the coroutine and the caller's handle share. `cancelled` stops every further handler.
struct Exchange {
  bool cancelled = false;
  std::shared_ptr<ConnectionPtr> connection = std::make_shared<ConnectionPtr>();
};

class ExchangeHandle final : public HttpExchange {
 public:
  explicit ExchangeHandle(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~ExchangeHandle() override {
    exchange_->cancelled = true;
    if (*exchange_->connection) (*exchange_->connection)->close();
  }

 private:
  std::shared_ptr<Exchange> exchange_;
};

http::request<http::string_body> to_beast(const HttpRequest& request, const Endpoint& endpoint) {
  http::request<http::string_body> out;
  out.version(11);
  out.method_string(request.method);
  out.target(endpoint.target);
  out.set(http::field::host, endpoint.authority());
  for (const auto& [name, value] : request.headers) out.set(name, value);
  out.body() = request.body;
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
      request.method == "PATCH") {
    out.prepare_payload();
  }
  return out;
}

template <typename Message>
HttpResponse head_of(const Message& message) {
  HttpResponse out;
  out.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    out.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  return out;
}

// What every exchange of a client needs.
struct Shared {
  Pool pool{};
  std::shared_ptr<const ClientTls> tls{};
  Dial dial{};  // empty: hosts are what they are called
};

Result<void> find_places(const Dial& dial, Endpoint& endpoint) {
  if (!dial) return {};
  TRY_ASSIGN(endpoint.places, dial(endpoint.host, endpoint.port));
  return {};
}

Error exchange_error(const boost::system::error_code& problem, const Endpoint& endpoint,
                     std::size_t body_limit) {
  if (problem != http::error::body_limit) return connection_error(problem, endpoint);
  return make_error(Code::TooLarge, endpoint.authority() + ": reply is larger than " +
                                        std::to_string(body_limit) + " bytes");
}

// Sends the request and reads the reply's head. A pooled connection that the peer closed meanwhile
// is replaced once.
template <typename Parser>
asio::awaitable<Result<void>> open(const HttpRequest& request, Endpoint& endpoint, Shared& shared,
                                   std::shared_ptr<Exchange> exchange,
                                   std::optional<Parser>& parser, std::size_t body_limit) {
  const auto deadline = std::chrono::steady_clock::now() + request.timeout;
  const http::request<http::string_body> message = to_beast(request, endpoint);
  for (;;) {
    const std::shared_ptr<asio::ssl::context> tls = shared.tls->context();
    ConnectionPtr connection = shared.pool.take(endpoint.pool_key(), tls.get());
    if (connection) {
      *exchange->connection = connection;
    } else {
      Result<void> found = find_places(shared.dial, endpoint);
      if (!found) co_return std::move(found).error();
      Result<ConnectionPtr> made = co_await connect(endpoint, tls, deadline, exchange->connection);
      if (!made) co_return std::move(made).error();
      connection = *made;
    }
    connection->tcp().expires_at(deadline);
    parser.emplace();
    parser->body_limit(body_limit);
    boost::system::error_code problem;
    if (connection->tls) {
      std::tie(problem, std::ignore) =
          co_await http::async_write(*connection->tls, message, kNoThrow);
      if (!problem)
        std::tie(problem, std::ignore) = co_await http::async_read_header(
            *connection->tls, connection->buffer, *parser, kNoThrow);
    } else {
      std::tie(problem, std::ignore) =
          co_await http::async_write(*connection->plain, message, kNoThrow);
      if (!problem)
        std::tie(problem, std::ignore) = co_await http::async_read_header(
            *connection->plain, connection->buffer, *parser, kNoThrow);
    }
    if (!problem) co_return Result<void>();
    connection->close();
    const bool stale =
        connection->used_before && problem != beast::error::timeout && !parser->got_some();
    if (!stale || exchange->cancelled) co_return exchange_error(problem, endpoint, body_limit);
  }
}

class AsioHttpClient final : public HttpClient {
 public:
  AsioHttpClient(AsioLoop& loop, std::shared_ptr<const ClientTls> tls, Dial dial) : loop_(loop) {
    shared_->tls = std::move(tls);
    shared_->dial = std::move(dial);
  }

  std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) override {
    auto exchange = std::make_shared<Exchange>();
    asio::co_spawn(loop_.context(), run(std::move(request), exchange, shared_, std::move(done)),
                   asio::detached);
    return std::make_unique<ExchangeHandle>(exchange);
  }

  std::unique_ptr<HttpExchange> stream(HttpRequest request, HttpStreamHandlers handlers) override {
    auto exchange = std::make_shared<Exchange>();
    asio::co_spawn(loop_.context(),
                   run_stream(std::move(request), exchange, shared_, std::move(handlers)),
                   asio::detached);
    return std::make_unique<ExchangeHandle>(exchange);
  }

 private:
  static asio::awaitable<void> run(HttpRequest request, std::shared_ptr<Exchange> exchange,
                                   std::shared_ptr<Shared> shared, Done done) {
    Result<HttpResponse> reply = co_await fetch(request, exchange, *shared);
    if (!exchange->cancelled) done(std::move(reply));
  }

  static asio::awaitable<Result<HttpResponse>> fetch(const HttpRequest& request,
                                                     std::shared_ptr<Exchange> exchange,
                                                     Shared& shared) {
    Result<Endpoint> endpoint = parse_url(request.url);
    if (!endpoint) co_return std::move(endpoint).error();
    std::optional<http::response_parser<http::string_body>> parser;
    Result<void> opened =
        co_await open(request, *endpoint, shared, exchange, parser, request.max_reply_bytes);
    if (!opened) co_return std::move(opened).error();
    const ConnectionPtr connection = *exchange->connection;
    boost::system::error_code problem;
    if (!parser->is_done()) {
      if (connection->tls) {
        std::tie(problem, std::ignore) =
            co_await http::async_read(*connection->tls, connection->buffer, *parser, kNoThrow);
      } else {
        std::tie(problem, std::ignore) =
            co_await http::async_read(*connection->plain, connection->buffer, *parser, kNoThrow);
      }
    }
    if (problem) {
      connection->close();
      co_return exchange_error(problem, *endpoint, request.max_reply_bytes);
    }
    HttpResponse out = head_of(parser->get());
    out.body = std::move(parser->get().body());
    if (parser->keep_alive() && !exchange->cancelled) {
      exchange->connection->reset();
      shared.pool.give(endpoint->pool_key(), connection);
    } else {
      connection->close();
    }
    co_return out;
  }

  static asio::awaitable<void> run_stream(HttpRequest request, std::shared_ptr<Exchange> exchange,
                                          std::shared_ptr<Shared> shared,
                                          HttpStreamHandlers handlers) {
    Result<void> end = co_await follow(request, exchange, *shared, handlers);
    if (*exchange->connection) (*exchange->connection)->close();
    if (!exchange->cancelled && handlers.on_end) handlers.on_end(std::move(end));
  }

  static asio::awaitable<Result<void>> follow(const HttpRequest& request,
                                              std::shared_ptr<Exchange> exchange, Shared& shared,
                                              const HttpStreamHandlers& handlers) {
    Result<Endpoint> endpoint = parse_url(request.url);
    if (!endpoint) co_return std::move(endpoint).error();
    std::optional<http::response_parser<http::buffer_body>> parser;
    Result<void> opened = co_await open(request, *endpoint, shared, exchange, parser, UINT64_MAX);
    if (!opened) co_return opened;
    const ConnectionPtr connection = *exchange->connection;
    HttpResponse head = head_of(parser->get());
    const bool refused = head.status >= 300;
    if (!refused) {
      connection->tcp().expires_never();
      if (!exchange->cancelled && handlers.on_head) handlers.on_head(head);
    }
    std::vector<char> chunk(kChunkBytes);
    while (!parser->is_done() && !exchange->cancelled) {
      parser->get().body().data = chunk.data();
      parser->get().body().size = chunk.size();
      boost::system::error_code problem;
      if (connection->tls) {
        std::tie(problem, std::ignore) =
            co_await http::async_read_some(*connection->tls, connection->buffer, *parser, kNoThrow);
      } else {
        std::tie(problem, std::ignore) = co_await http::async_read_some(
            *connection->plain, connection->buffer, *parser, kNoThrow);
      }
      if (exchange->cancelled) co_return Result<void>();
      const std::string_view data(chunk.data(), chunk.size() - parser->get().body().size);
      if (refused) {
        if (head.body.size() + data.size() <= request.max_reply_bytes) head.body.append(data);
      } else if (!data.empty() && handlers.on_data) {
        handlers.on_data(data);
      }
      if (problem && problem != http::error::need_buffer)
        co_return connection_error(problem, *endpoint);
    }
    if (refused && !exchange->cancelled && handlers.on_head) handlers.on_head(head);
    co_return Result<void>();
  }

  AsioLoop& loop_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client(AsioLoop& loop, const TlsIdentity& identity) {
  return make_renewable_http_client(loop, std::make_shared<const ClientTls>(identity));
}

std::unique_ptr<HttpClient> make_renewable_http_client(AsioLoop& loop,
                                                       std::shared_ptr<const ClientTls> tls) {
  return std::make_unique<AsioHttpClient>(loop, std::move(tls), Dial());
}

std::unique_ptr<HttpClient> make_http_client(AsioLoop& loop, const TlsIdentity& identity,
                                             Dial dial) {
  return std::make_unique<AsioHttpClient>(loop, std::make_shared<const ClientTls>(identity),
                                          std::move(dial));
}

}  // namespace krater::runtime
