#include "api/server/websocket.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "api/server/await.h"
#include "base/strings.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr std::string_view kBinary = "binary.k8s.io";
constexpr std::string_view kBase64 = "base64.binary.k8s.io";
constexpr std::string_view kBearer = "base64url.bearer.authorization.k8s.io.";
constexpr std::size_t kMostFromClient = 64 << 10;  // of one message, which is ignored anyway
constexpr auto kCloseWithin = std::chrono::seconds(5);

using Socket = websocket::stream<TlsStream&>;

// "https://host:8001/x" -> "host:8001"; "" when it is no origin.
std::string_view host_of_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::string_view rest = origin.substr(scheme + 3);
  return rest.substr(0, rest.find('/'));
}

bool is_loopback(std::string_view host) {
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "localhost" || name == "127.0.0.1";
}

// The first message of `bytes`, which loses it.
std::string_view take_message(std::string_view& bytes, Framing framing) {
  std::size_t begin = 0, length = bytes.size(), after = bytes.size();
  switch (framing) {
    case Framing::AsWritten:
      break;
    case Framing::Lines:
      length = std::min(bytes.find('\n'), bytes.size());
      after = std::min(length + 1, bytes.size());
      break;
    case Framing::Prefixed: {
      if (bytes.size() < 4) break;
      std::size_t announced = 0;
      for (std::size_t i = 0; i < 4; ++i)
        announced = announced << 8 | static_cast<unsigned char>(bytes[i]);
      begin = 4;
      length = std::min(announced, bytes.size() - 4);
      after = begin + length;
      break;
    }
  }
  const std::string_view out = bytes.substr(begin, length);
  bytes.remove_prefix(after);
  return out;
}

class WebSocketWriter final : public BodyWriter {
 public:
  WebSocketWriter(Socket& socket, WebSocketAnswer how)
      : socket_(socket),
        how_(std::move(how)),
        bell_(std::make_shared<Bell>(socket.get_executor())) {}

  asio::awaitable<bool> write(std::string bytes) override {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::string_view piece = take_message(rest, how_.framing);
      if (piece.empty()) continue;
      std::string message = how_.base64 ? base64_encode(piece) : std::string(piece);
      boost::system::error_code failed;
      if (!*gone_)
        co_await socket_.async_write(asio::buffer(message),
                                     asio::redirect_error(asio::use_awaitable, failed));
      if (failed || *gone_) {
        *gone_ = true;
        co_return false;
      }
    }
    co_return true;
  }
  asio::awaitable<void> wait(std::chrono::steady_clock::duration limit) override {
    return bell_->wait(limit);
  }
  std::function<void()> notifier() override {
    return [bell = bell_] { bell->ring(); };
  }
  bool ending() const override { return *stopping_ || *gone_; }

  std::shared_ptr<Bell> bell() const { return bell_; }
  std::shared_ptr<bool> gone() const { return gone_; }
  std::shared_ptr<bool> stopping() const { return stopping_; }

 private:
  Socket& socket_;
  WebSocketAnswer how_;
  std::shared_ptr<Bell> bell_;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
  std::shared_ptr<bool> stopping_ = std::make_shared<bool>(false);
};

// Reads answer pings and closes; what else comes is dropped. Ends with the socket.
asio::awaitable<void> read_away(std::shared_ptr<Socket> socket, std::shared_ptr<bool> gone,
                                std::shared_ptr<Bell> bell) {
  beast::flat_buffer ignored;
  boost::system::error_code failed;
  while (!failed) {
    co_await socket->async_read(ignored, asio::redirect_error(asio::use_awaitable, failed));
    ignored.consume(ignored.size());
  }
  *gone = true;
  bell->ring();
}

asio::awaitable<void> serve(BodyStream stream, WebSocketAnswer how, UpgradeContext& context) {
  beast::get_lowest_layer(context.stream).expires_never();
  // Shared with the reader, which may come to its end a moment after the writer.
  const auto socket = std::make_shared<Socket>(context.stream);
  socket->set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
  socket->read_message_max(kMostFromClient);
  socket->auto_fragment(false);
  socket->binary(how.binary && !how.base64);
  if (!how.protocol.empty()) {
    socket->set_option(websocket::stream_base::decorator(
        [protocol = how.protocol](websocket::response_type& response) {
          response.set(beast::http::field::sec_websocket_protocol, protocol);
        }));
  }
  boost::system::error_code failed;
  co_await socket->async_accept(context.head, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return;
  WebSocketWriter writer(*socket, std::move(how));
  const auto gone = writer.gone();
  const auto bell = writer.bell();
  context.on_stop = [bell, stopping = writer.stopping()] {
    *stopping = true;
    bell->ring();
  };
  // The reader uses the connection's stream: it has to be over before this returns.
  const auto over = std::make_shared<Bell>(socket->get_executor());
  asio::co_spawn(socket->get_executor(), read_away(socket, gone, bell),
                 [over](std::exception_ptr) { over->ring(); });
  std::exception_ptr broken;
  try {
    co_await stream(writer);
  } catch (...) {
    broken = std::current_exception();
  }
  context.on_stop = {};
  if (!*gone) {
    co_await socket->async_close(websocket::close_code::normal,
                                 asio::redirect_error(asio::use_awaitable, failed));
  }
  if (!*gone) co_await over->wait(kCloseWithin);
  beast::get_lowest_layer(*socket).cancel();
  while (!*gone) co_await over->wait(kCloseWithin);
  if (broken) std::rethrow_exception(broken);
}

}  // namespace

bool wants_websocket(const Request& request) {
  return to_lower(request.header("Upgrade")) == "websocket" &&
         to_lower(request.joined_header("Connection")).find("upgrade") != std::string::npos;
}

std::vector<std::string> offered_protocols(const Request& request) {
  std::vector<std::string> out;
  const std::string header = request.joined_header("Sec-WebSocket-Protocol");
  for (const std::string_view one : split(header, ',')) {
    if (const std::string_view name = trim(one); !name.empty()) out.emplace_back(name);
  }
  return out;
}

std::optional<std::string> bearer_of_protocols(const Request& request) {
  if (!wants_websocket(request)) return std::nullopt;
  const std::vector<std::string> offered = offered_protocols(request);
  const auto found = std::find_if(offered.begin(), offered.end(), [](const std::string& name) {
    return name.starts_with(kBearer);
  });
  if (found == offered.end()) return std::nullopt;
  // Answering with the token as the chosen protocol would tell it to logs: another must be there.
  if (offered.size() < 2) return std::string();
  return base64url_decode(found->substr(kBearer.size())).value_or("");
}

Result<void> check_origin(const Request& request) {
  const std::string_view origin = request.header("Origin");
  if (origin.empty() || !request.header("Authorization").empty() || bearer_of_protocols(request))
    return {};
  const std::string_view host = host_of_origin(origin);
  if (!host.empty() && (host == request.header("Host") || is_loopback(host))) return {};
  return make_error(Code::Forbidden, "forbidden: a page of " + std::string(origin) +
                                         " may not open a WebSocket to this server");
}

WebSocketAnswer choose_protocol(const Request& request, Framing framing, bool binary) {
  WebSocketAnswer out{framing, binary};
  for (const std::string& name : offered_protocols(request)) {
    const bool known = name == kBinary || name == kBase64;
    if (name.starts_with(kBearer) || (!known && !out.protocol.empty())) continue;
    out.protocol = name;
    if (!known) continue;
    out.binary = name == kBinary;
    out.base64 = name == kBase64;
    break;
  }
  return out;
}

Upgrade over_websocket(BodyStream stream, WebSocketAnswer how) {
  return [stream = std::move(stream), how = std::move(how)](UpgradeContext& context) {
    return serve(stream, how, context);
  };
}

}  // namespace krater::api
