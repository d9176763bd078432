// What agents come for: a certificate (join) and the tunnel. See api/server/tunnel.md.
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <deque>
#include <optional>

#include "api/registry/status.h"
#include "api/server/await.h"
#include "api/server/handlers.h"
#include "api/server/upgrade.h"
#include "api/server/websocket.h"
#include "base/log.h"
#include "base/strings.h"

namespace krater::api::handlers {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

constexpr auto kNodeCertificateLife = 24h * 365;
constexpr auto kSkew = 5min;
constexpr std::size_t kQueueMax =
    1024;  // frames waiting for a slow agent; more ends the connection

using Socket = websocket::stream<TlsStream&>;

// Frames from any thread, written one after the other on the connection's strand. Outlives the
// socket: what is sent after close() goes nowhere.
class Link final : public TunnelLink, public std::enable_shared_from_this<Link> {
 public:
  explicit Link(Socket& socket) : strand_(socket.get_executor()), socket_(&socket) {}

  bool send(tunnel::Frame frame) override {
    if (closed_.load()) return false;
    asio::post(strand_, [self = shared_from_this(), message = tunnel::encode(frame)]() mutable {
      self->enqueue(std::move(message));
    });
    return true;
  }
  // On the strand.
  void close() {
    closed_ = true;
    socket_ = nullptr;
    queue_.clear();
  }

 private:
  void enqueue(std::string message) {
    if (socket_ == nullptr) return;
    if (queue_.size() >= kQueueMax) {
      boost::beast::get_lowest_layer(*socket_).cancel();
      return;
    }
    queue_.push_back(std::move(message));
    if (!writing_) asio::co_spawn(strand_, write_all(shared_from_this()), asio::detached);
  }

  static asio::awaitable<void> write_all(std::shared_ptr<Link> self) {
    self->writing_ = true;
    while (self->socket_ != nullptr && !self->queue_.empty()) {
      const std::string message = std::move(self->queue_.front());
      self->queue_.pop_front();
      boost::system::error_code failed;
      co_await self->socket_->async_write(asio::buffer(message),
                                          asio::redirect_error(asio::use_awaitable, failed));
      if (failed) break;  // the reader sees it too and ends the connection
    }
    self->writing_ = false;
  }

  asio::any_io_executor strand_;
  Socket* socket_;
  std::atomic<bool> closed_{false};
  bool writing_ = false;
  std::deque<std::string> queue_;
};

asio::awaitable<void> serve(UpgradeContext& context, Deps& deps, std::string node, bool pool) {
  TunnelHub& hub = deps.tunnels;
  boost::beast::get_lowest_layer(context.stream).expires_never();
  Socket socket(context.stream);
  socket.set_option(websocket::stream_base::timeout::suggested(boost::beast::role_type::server));
  socket.read_message_max(tunnel::kMaxMessage);
  socket.binary(true);
  boost::system::error_code failed;
  co_await socket.async_accept(context.head, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return;

  const auto link = std::make_shared<Link>(socket);
  const auto tunnel = std::make_shared<Tunnel>(link);
  pool ? hub.add_pool(node, tunnel) : hub.add(node, tunnel);
  log::info("tunnel.open", {{"node", node}, {"pool", pool}});
  context.on_stop = [&socket] { boost::beast::get_lowest_layer(socket).cancel(); };
  boost::beast::flat_buffer message;
  std::string why;
  for (;;) {
    co_await socket.async_read(message, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {
      why = failed.message();
      break;
    }
    const auto bytes = message.cdata();
    const Result<void> received =
        tunnel->receive({static_cast<const char*>(bytes.data()), bytes.size()});
    message.consume(message.size());
    if (!received) {
      why = received.error().message;
      break;
    }
  }
  context.on_stop = {};
  pool ? hub.remove_pool(node, tunnel) : hub.remove(node, tunnel);
  tunnel->close();
  link->close();
  log::info("tunnel.close", {{"node", node}, {"why", why}});
}

// Who may have a node's certificate without being looked at.
std::optional<Error> refuse_join(const Deps& deps, const Identity& who) {
  Attributes what{"create"};
  what.group = "certificates.k8s.io";
  what.version = "v1";
  what.resource = "certificatesigningrequests";
  what.subresource = "nodeclient";
  const Authorizer::Verdict verdict = deps.authorizer.decide(who, what);
  if (verdict.allowed) return std::nullopt;
  return refusal(who, what, verdict.reason);
}

}  // namespace

Answering authority(Deps& deps, Exchange&) {
  co_return respond(200, "application/x-pem-file", deps.authority.certificate_pem());
}

Answering join(Deps& deps, Exchange& x) {
  if (const std::optional<Error> refused = refuse_join(deps, x.who))
    co_return respond_error(*refused);
  const Result<Json> body = parse_json(x.request.body);
  if (!body || !body->is_object())
    co_return respond_error(bad_request("the body must be a JSON object with nodeName and csr"));
  const std::string node = text_at(*body, {"nodeName"});
  const std::string wrong = check_dns1123_subdomain(node);
  if (!wrong.empty())
    co_return respond_error(bad_request("nodeName: Invalid value: \"" + node + "\": " + wrong));
  Subject subject{std::string(kNodeUserPrefix) + node, {std::string(kNodesGroup)}};
  if (bool_at(*body, {"pool"}).value_or(false))
    subject.organizations.push_back(std::string(kNodePoolPrefix) + node);
  const WallTime now = deps.clock.now();
  const Result<std::string> certificate = deps.authority.sign_client_request(
      text_at(*body, {"csr"}), subject, {now - kSkew, now + kNodeCertificateLife});
  if (!certificate) co_return respond_error(certificate.error());
  log::info("node.joined", {{"node", node}, {"by", x.who.user}});
  co_return respond_json(
      201, JsonObject{{"certificate", *certificate}, {"ca", deps.authority.certificate_pem()}});
}

Answering tunnel(Deps& deps, Exchange& x) {
  const NodeScope scope(x.who);
  std::string node(x.request.query.first("node"));
  if (node.empty() && x.who.user.starts_with(kNodeUserPrefix))
    node = x.who.user.substr(kNodeUserPrefix.size());
  if (!scope.contains(node) && !x.who.in(kMastersGroup)) {
    co_return respond_error(make_error(
        Code::Forbidden,
        "forbidden: User \"" + x.who.user + "\" cannot open a tunnel for node \"" + node + "\""));
  }
  if (node.empty()) co_return respond_error(bad_request("the query parameter node is required"));
  if (!wants_websocket(x.request)) co_return respond_error(bad_request("Upgrade request required"));
  const bool pool = x.request.query.flag("pool") && (scope.pool() || x.who.in(kMastersGroup));
  Response response;
  response.upgrade = [&deps, node, pool](UpgradeContext& context) {
    return serve(context, deps, node, pool);
  };
  co_return response;
}

}  // namespace krater::api::handlers
