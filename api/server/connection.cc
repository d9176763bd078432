#include "api/server/connection.h"

#include <openssl/x509.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>
#include <utility>

#include "api/server/await.h"
#include "api/server/gzip.h"
#include "api/server/peer.h"
#include "api/server/request_reader.h"
#include "api/server/response_writer.h"
#include "base/log.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr auto kLinger = std::chrono::milliseconds(500);

class TlsConnection final : public Connection, public std::enable_shared_from_this<TlsConnection> {
 public:
  TlsConnection(beast::tcp_stream socket, asio::ssl::context& tls, Service& service,
                const ServerLimits& limits, std::function<void()> ended)
      : stream_(std::move(socket), tls),
        bell_(std::make_shared<Bell>(stream_.get_executor())),
        linger_(stream_.get_executor()),
        service_(service),
        limits_(limits),
        ended_(std::move(ended)) {
    boost::system::error_code gone;
    const auto peer = tcp().socket().remote_endpoint(gone);
    if (!gone) remote_ = peer.address().to_string();
  }

  void run() override {
    asio::co_spawn(stream_.get_executor(), serve(),
                   [self = shared_from_this()](std::exception_ptr failure) {
                     try {
                       if (failure) std::rethrow_exception(failure);
                     } catch (const std::exception& error) {
                       log::error("api.connection", {{"error", error.what()}});
                     }
                     self->close();
                     self->ended_();
                   });
  }

  void stop() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->stopping_ = true;
      self->bell_->ring();
      if (self->on_stop_) self->on_stop_();
      if (self->idle_) self->tcp().cancel();
    });
  }

  void cut() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

 private:
  beast::tcp_stream& tcp() { return stream_.next_layer(); }
  void close() {
    boost::system::error_code ignored;
    tcp().socket().close(ignored);
  }

  asio::awaitable<void> serve() {
    tcp().expires_after(limits_.handshake);
    auto [failed] = co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                                     asio::as_tuple(asio::use_awaitable));
    if (failed) {
      service_.count_failed_handshake();
      co_return;
    }
    certificate_ = peer_certificate(stream_.native_handle());
    while (!stopping_ && co_await exchange()) {
    }
    if (!tcp().socket().is_open()) co_return;
    // The other end answers our farewell, or has had its time.
    linger_.expires_after(kLinger);
    linger_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) self->close();
    });
    co_await stream_.async_shutdown(asio::as_tuple(asio::use_awaitable));
    linger_.cancel();
  }

  // One request and its answer. False: the connection ends.
  asio::awaitable<bool> exchange() {
    idle_ = true;
    RequestReader reader(stream_, buffer_, limits_);
    const bool began = co_await reader.wait_for_first_byte();
    idle_ = false;
    if (!began) co_return false;
    ReadOutcome got;
    co_await reader.read_head(got);
    if (got.closed) co_return false;
    const HttpVersion version{got.minor_version, got.keep_alive && !stopping_,
                              got.request.method == "HEAD",
                              accepts_gzip(got.request.joined_header("Accept-Encoding"))};
    if (got.refused) co_return co_await refuse(reader, *got.refused, version);
    got.request.certificate = certificate_;
    // Says nothing any more, and is refused: never anonymous.
    if (certificate_ && peer_certificate_is_over(stream_.native_handle()))
      got.request.certificate = PresentedCertificate();
    got.request.remote = remote_;
    Call call = service_.admit(got.request);
    // A small body is taken in even for the refused: that costs less than a new connection.
    if (got.has_body && (!call.refused || reader.body_is_small())) {
      co_await reader.read_body(got);
      if (got.closed) co_return false;
      got.has_body = got.refused.has_value();
      if (got.refused) call.refused = std::move(got.refused);
    }
    tcp().expires_never();
    Response response = co_await service_.handle(call);
    const Ending ending(service_, call, response);
    if (got.has_body) co_return co_await refuse(reader, response, version);
    if (response.upgrade) {
      UpgradeContext context{stream_, buffer_, upgrade_head(got.request), on_stop_};
      co_await response.upgrade(context);
      on_stop_ = {};
      co_return false;
    }
    if (response.stream && !version.head) co_return co_await write_stream(response, version);
    co_return co_await write_plain(response, version);
  }

  // However an answer that goes on ends, its end is told.
  struct Ending {
    Ending(const Service& of, Call& its_call, const Response& its_response)
        : service(of), call(its_call), response(its_response) {}
    ~Ending() { service.finish(call, response); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    const Service& service;
    Call& call;
    const Response& response;
  };

  // What the client has still to say is not worth hearing.
  asio::awaitable<bool> refuse(RequestReader& reader, const Response& response,
                               HttpVersion version) {
    version.keep_alive = false;
    const bool written = co_await write_response(stream_, response, version, limits_.write);
    if (written) co_await reader.discard();
    co_return false;
  }

  asio::awaitable<bool> write_plain(const Response& response, HttpVersion version) {
    version.keep_alive = version.keep_alive && !stopping_;
    const bool written = co_await write_response(stream_, response, version, limits_.write);
    co_return written&& version.keep_alive;
  }

  // A stream ends with its connection: a client that follows something holds no request behind it.
  asio::awaitable<bool> write_stream(Response& response, HttpVersion version) {
    StreamWriter writer(stream_, bell_, stopping_, version, limits_.write);
    if (!co_await writer.begin(response)) co_return false;
    watch_for_close(writer);
    co_await response.stream(writer);
    co_await writer.finish();
    co_return false;
  }

  // While we only write, a client that leaves shows itself by the end of what it sends.
  void watch_for_close(StreamWriter& writer) {
    asio::co_spawn(
        stream_.get_executor(),
        [self = shared_from_this(), gone = writer.gone()]() -> asio::awaitable<void> {
          std::array<char, 512> ignored{};
          for (;;) {
            auto [failed, n] = co_await self->stream_.async_read_some(
                asio::buffer(ignored), asio::as_tuple(asio::use_awaitable));
            if (!failed) continue;
            *gone = true;
            self->bell_->ring();
            co_return;
          }
        },
        asio::detached);
  }

  TlsStream stream_;
  beast::flat_buffer buffer_;
  std::shared_ptr<Bell> bell_;
  asio::steady_timer linger_;
  Service& service_;
  const ServerLimits& limits_;
  std::function<void()> ended_;
  std::function<void()> on_stop_;  // of an upgraded protocol
  std::optional<PresentedCertificate> certificate_;
  std::string remote_;  // the other end's address
  bool stopping_ = false;
  bool idle_ = false;
};

}  // namespace

std::shared_ptr<Connection> make_connection(beast::tcp_stream socket, asio::ssl::context& tls,
                                            Service& service, const ServerLimits& limits,
                                            std::function<void()> ended) {
  return std::make_shared<TlsConnection>(std::move(socket), tls, service, limits, std::move(ended));
}

}  // namespace krater::api
