// WebSocketConnector over Beast.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <deque>

#include "runtime/asio_loop.h"
#include "runtime/connection.h"
#include "runtime/http_client.h"

namespace krater::runtime {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr std::size_t kMessageBytesMax = 4 << 20;

// Shared by the coroutines and the caller's handle.
template <typename Stream>
struct Session {
  explicit Session(Stream stream) : socket(std::move(stream)) {}
  websocket::stream<Stream> socket;
  std::deque<std::string> queue;
  std::size_t queued = 0;
  bool writing = false;
};

struct Shared {
  bool cancelled = false;
  bool open = false;
  std::size_t queued = 0;
  std::deque<std::string> before_open;
  std::function<void(std::string)> send;
  std::function<void()> close;
  std::shared_ptr<ConnectionPtr> slot = std::make_shared<ConnectionPtr>();
};

template <typename Stream>
asio::awaitable<void> write_all(std::shared_ptr<Session<Stream>> session,
                                std::shared_ptr<Shared> shared) {
  session->writing = true;
  while (!session->queue.empty()) {
    const std::string message = std::move(session->queue.front());
    session->queue.pop_front();
    auto [problem, written] = co_await session->socket.async_write(asio::buffer(message), kNoThrow);
    shared->queued -= message.size();
    if (problem) break;  // the reader sees the broken connection and reports it
  }
  session->writing = false;
}

template <typename Stream>
asio::awaitable<Result<void>> converse(
    Stream& stream, const Endpoint& endpoint,
    const std::vector<std::pair<std::string, std::string>>& headers, WebSocketHandlers& handlers,
    std::shared_ptr<Shared> shared) {
  auto session = std::make_shared<Session<Stream>>(std::move(stream));
  session->socket.set_option(websocket::stream_base::timeout::suggested(beast::role_type::client));
  session->socket.set_option(
      websocket::stream_base::decorator([&](websocket::request_type& request) {
        for (const auto& [name, value] : headers) request.set(name, value);
      }));
  session->socket.read_message_max(kMessageBytesMax);
  session->socket.binary(true);
  shared->close = [session] { beast::get_lowest_layer(session->socket).close(); };
  auto [problem] =
      co_await session->socket.async_handshake(endpoint.authority(), endpoint.target, kNoThrow);
  if (problem) co_return connection_error(problem, endpoint);
  if (shared->cancelled) co_return Result<void>();
  const auto executor = co_await asio::this_coro::executor;
  shared->send = [session, shared = std::weak_ptr(shared), executor](std::string message) {
    session->queue.push_back(std::move(message));
    if (const auto alive = shared.lock(); alive && !session->writing) {
      session->writing = true;
      asio::co_spawn(executor, write_all(session, alive), asio::detached);
    }
  };
  shared->open = true;
  if (handlers.on_open) handlers.on_open();
  for (std::string& message : std::exchange(shared->before_open, {}))
    shared->send(std::move(message));
  beast::flat_buffer buffer;
  while (!shared->cancelled) {
    auto [read_problem, size] = co_await session->socket.async_read(buffer, kNoThrow);
    if (shared->cancelled) break;
    if (read_problem == websocket::error::closed) break;
    if (read_problem) co_return connection_error(read_problem, endpoint);
    if (handlers.on_message)
      handlers.on_message({static_cast<const char*>(buffer.data().data()), buffer.size()});
    buffer.consume(buffer.size());
  }
  co_return Result<void>();
}

asio::awaitable<void> run(std::string url, std::vector<std::pair<std::string, std::string>> headers,
                          WebSocketHandlers handlers, std::shared_ptr<asio::ssl::context> tls,
                          std::shared_ptr<Shared> shared) {
  Result<void> end;
  Result<Endpoint> endpoint = parse_url(url);
  if (!endpoint) {
    end = endpoint.error();
  } else {
    Result<ConnectionPtr> connection = co_await connect(
        *endpoint, tls, std::chrono::steady_clock::now() + std::chrono::seconds(10), shared->slot);
    if (!connection) {
      end = connection.error();
    } else if (!shared->cancelled) {
      const ConnectionPtr made = *connection;
      made->tcp().expires_never();
      shared->slot->reset();
      if (made->tls) {
        end = co_await converse(*made->tls, *endpoint, headers, handlers,
                                shared);
      } else {
        end = co_await converse(*made->plain, *endpoint, headers, handlers,
                                shared);
      }
    }
  }
  shared->open = false;
  shared->send = nullptr;
  shared->close = nullptr;
  if (!shared->cancelled && handlers.on_close) handlers.on_close(std::move(end));
}

class AsioWebSocket final : public WebSocket {
 public:
  explicit AsioWebSocket(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~AsioWebSocket() override {
    shared_->cancelled = true;
    if (shared_->close) shared_->close();
    if (*shared_->slot) (*shared_->slot)->close();
  }
  void send(std::string message) override {
    shared_->queued += message.size();
    if (shared_->send) {
      shared_->send(std::move(message));
    } else {
      shared_->before_open.push_back(std::move(message));
    }
  }
  std::size_t queued_bytes() const override { return shared_->queued; }

 private:
  std::shared_ptr<Shared> shared_;
};

class AsioWebSocketConnector final : public WebSocketConnector {
 public:
  AsioWebSocketConnector(AsioLoop& loop, std::shared_ptr<const ClientTls> tls)
      : loop_(loop), tls_(std::move(tls)) {}
  std::unique_ptr<WebSocket> connect(std::string url,
                                     std::vector<std::pair<std::string, std::string>> headers,
                                     WebSocketHandlers handlers) override {
    auto shared = std::make_shared<Shared>();
    asio::co_spawn(loop_.context(),
                   run(std::move(url), std::move(headers), std::move(handlers), tls_->context(), shared),
                   asio::detached);
    return std::make_unique<AsioWebSocket>(shared);
  }

 private:
  AsioLoop& loop_;
  std::shared_ptr<const ClientTls> tls_;
};

}  // namespace

std::unique_ptr<WebSocketConnector> make_websocket_connector(AsioLoop& loop,
                                                             std::shared_ptr<const ClientTls> tls) {
  return std::make_unique<AsioWebSocketConnector>(loop, std::move(tls));
}

}  // namespace krater::runtime
