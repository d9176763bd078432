#include "agent/net/dns_server.h"

#include <netinet/in.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <map>

#include "base/log.h"
#include "base/strings.h"

namespace krater::agent::dns {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kForwardsMax = 1024;
constexpr std::size_t kConnectionsMax = 64;
constexpr std::chrono::seconds kUpstreamWait{2}, kConnectionIdle{10};
constexpr std::chrono::milliseconds kAcceptPause{100};

// IP_FREEBIND: the address may come up later.
template <typename Socket>
void bind_early(Socket& socket, const typename Socket::endpoint_type& where) {
  socket.open(where.protocol());
  socket.set_option(asio::socket_base::reuse_address(true));
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
  socket.bind(where);
}

class ServerImpl final : public Server, public std::enable_shared_from_this<ServerImpl> {
 public:
  ServerImpl(asio::io_context& io, Rng& rng, const Zone& zone, ServerSettings settings)
      : io_(io),
        rng_(rng),
        zone_(zone),
        settings_(std::move(settings)),
        udp_(io),
        tcp_(io),
        upstream_(io) {}

  void open() {
    const auto address = asio::ip::make_address(settings_.address);
    bind_early(udp_, udp::endpoint(address, settings_.port));
    bind_early(tcp_, tcp::endpoint(address, udp_.local_endpoint().port()));
    tcp_.listen();
    upstream_.open(udp::v4());
  }
  void start() {
    asio::co_spawn(io_, serve_udp(shared_from_this()), asio::detached);
    asio::co_spawn(io_, serve_tcp(shared_from_this()), asio::detached);
    asio::co_spawn(io_, take_forwarded(shared_from_this()), asio::detached);
  }
  void close() {
    boost::system::error_code ignored;
    closed_ = true;
    udp_.close(ignored);
    tcp_.close(ignored);
    upstream_.close(ignored);
    forwards_.clear();
  }
  std::uint16_t port() const override { return udp_.local_endpoint().port(); }

 private:
  using Self = std::shared_ptr<ServerImpl>;
  using Reply = std::function<void(std::string)>;

  static asio::awaitable<void> serve_udp(Self self) {
    std::array<char, 4096> buffer;
    while (!self->closed_) {
      udp::endpoint from;
      auto [problem, size] =
          co_await self->udp_.async_receive_from(asio::buffer(buffer), from, kNoThrow);
      if (self->closed_) co_return;
      if (problem) continue;
      self->handle({buffer.data(), size}, /*over_udp=*/true, [self, from](std::string reply) {
        boost::system::error_code ignored;
        if (!self->closed_ && !reply.empty())
          self->udp_.send_to(asio::buffer(reply), from, 0, ignored);
      });
    }
  }

  static asio::awaitable<void> serve_tcp(Self self) {
    while (!self->closed_) {
      auto [problem, socket] = co_await self->tcp_.async_accept(kNoThrow);
      if (self->closed_) co_return;
      if (problem) {  // out of descriptors, mostly: some come back
        asio::steady_timer pause(self->io_, kAcceptPause);
        co_await pause.async_wait(kNoThrow);
        continue;
      }
      if (self->connections_ >= kConnectionsMax) continue;
      ++self->connections_;
      asio::co_spawn(self->io_, converse(self, std::make_shared<tcp::socket>(std::move(socket))),
                     asio::detached);
    }
  }

  static asio::awaitable<void> converse(Self self, std::shared_ptr<tcp::socket> socket) {
    auto idle = std::make_shared<asio::steady_timer>(self->io_);
    for (;;) {
      idle->expires_after(kConnectionIdle);
      idle->async_wait([socket](const boost::system::error_code& stopped) {
        boost::system::error_code ignored;
        if (!stopped) socket->close(ignored);
      });
      std::array<unsigned char, 2> length;
      auto [head_problem, head_size] =
          co_await asio::async_read(*socket, asio::buffer(length), kNoThrow);
      if (head_problem || self->closed_) break;
      std::string message(static_cast<std::size_t>(length[0]) << 8 | length[1], '\0');
      auto [body_problem, body_size] =
          co_await asio::async_read(*socket, asio::buffer(message), kNoThrow);
      if (body_problem || self->closed_) break;
      auto ready =
          std::make_shared<asio::steady_timer>(self->io_, asio::steady_timer::time_point::max());
      auto reply = std::make_shared<std::string>();
      self->handle(message, /*over_udp=*/false, [ready, reply](std::string got) {
        *reply = std::move(got);
        ready->expires_at(asio::steady_timer::time_point::min());
      });
      co_await ready->async_wait(kNoThrow);
      if (reply->empty() || self->closed_) break;
      const std::string framed{static_cast<char>(reply->size() >> 8),
                               static_cast<char>(reply->size() & 0xff)};
      auto [write_problem, written] = co_await asio::async_write(
          *socket, std::array<asio::const_buffer, 2>{asio::buffer(framed), asio::buffer(*reply)},
          kNoThrow);
      if (write_problem || self->closed_) break;
    }
    idle->cancel();
    --self->connections_;
  }

  void handle(std::string_view message, bool over_udp, Reply reply) {
    const Result<Question> question = parse_query(message);
    if (!question) return reply(encode_failure(message, Rcode::FormErr));
    if (const std::optional<Answer> own = zone_.answer(*question)) {
      return reply(encode_answer(*question, *own, over_udp ? question->udp_bytes : 65535));
    }
    forward(std::string(message), std::move(reply));
  }

  struct Forward {
    std::string message;
    std::uint16_t asked_id = 0;
    std::size_t upstream = 0;
    Reply reply;
    std::unique_ptr<asio::steady_timer> timer;
  };

  // One upstream after the other; ids are drawn at random, as a resolver must.
  void forward(std::string message, Reply reply) {
    if (settings_.upstreams.empty() || forwards_.size() >= kForwardsMax)
      return reply(encode_failure(message, Rcode::ServFail));
    std::uint16_t id = 0;
    do {
      id = static_cast<std::uint16_t>(rng_.below(65536));
    } while (forwards_.contains(id));
    Forward& made = forwards_[id];
    made.asked_id = message_id(message);
    made.message = std::move(message);
    set_message_id(made.message, id);
    made.reply = std::move(reply);
    made.timer = std::make_unique<asio::steady_timer>(io_);
    ask(id);
  }

  void ask(std::uint16_t id) {
    Forward& mine = forwards_.at(id);
    boost::system::error_code ignored;
    const auto where = asio::ip::make_address(settings_.upstreams[mine.upstream], ignored);
    upstream_.send_to(asio::buffer(mine.message), udp::endpoint(where, settings_.upstream_port), 0,
                      ignored);
    mine.timer->expires_after(kUpstreamWait);
    mine.timer->async_wait(
        [self = shared_from_this(), id](const boost::system::error_code& stopped) {
          if (!stopped && !self->closed_ && self->forwards_.contains(id)) self->no_answer(id);
        });
  }

  void no_answer(std::uint16_t id) {
    Forward& mine = forwards_.at(id);
    if (++mine.upstream < settings_.upstreams.size()) return ask(id);
    set_message_id(mine.message, mine.asked_id);
    const auto done = std::move(forwards_.extract(id).mapped());
    done.reply(encode_failure(done.message, Rcode::ServFail));
  }

  static asio::awaitable<void> take_forwarded(Self self) {
    std::array<char, 4096> buffer;
    while (!self->closed_) {
      udp::endpoint from;
      auto [problem, size] =
          co_await self->upstream_.async_receive_from(asio::buffer(buffer), from, kNoThrow);
      if (self->closed_) co_return;
      if (problem) continue;  // an unreachable upstream shows here
      std::string message(buffer.data(), size);
      const auto place = self->forwards_.find(message_id(message));
      if (place == self->forwards_.end() ||
          from.address().to_string() != self->settings_.upstreams[place->second.upstream])
        continue;
      const auto mine = std::move(self->forwards_.extract(place).mapped());
      set_message_id(message, mine.asked_id);
      mine.reply(std::move(message));
    }
  }

  asio::io_context& io_;
  Rng& rng_;
  const Zone& zone_;
  ServerSettings settings_;
  udp::socket udp_;
  tcp::acceptor tcp_;
  udp::socket upstream_;
  std::map<std::uint16_t, Forward> forwards_;
  std::size_t connections_ = 0;
  bool closed_ = false;
};

// What the owner holds: closing it lets the coroutines end.
class Handle final : public Server {
 public:
  explicit Handle(std::shared_ptr<ServerImpl> server) : server_(std::move(server)) {}
  ~Handle() override { server_->close(); }
  std::uint16_t port() const override { return server_->port(); }

 private:
  std::shared_ptr<ServerImpl> server_;
};

}  // namespace

Result<std::unique_ptr<Server>> start_server(asio::io_context& io, Rng& rng, const Zone& zone,
                                             ServerSettings settings) {
  const std::string where = settings.address + ":" + std::to_string(settings.port);
  auto made = std::make_shared<ServerImpl>(io, rng, zone, std::move(settings));
  try {
    made->open();
  } catch (const boost::system::system_error& problem) {
    return make_error(Code::Unavailable,
                      "cluster DNS cannot listen on " + where + ": " + problem.code().message());
  }
  made->start();
  return std::unique_ptr<Server>(std::make_unique<Handle>(std::move(made)));
}

std::vector<std::string> nameservers_of(const std::string& resolv_conf) {
  std::vector<std::string> out;
  for (std::string_view line : split(resolv_conf, '\n')) {
    line = trim(line);
    if (!line.starts_with("nameserver")) continue;
    const std::string address(trim(line.substr(10)));
    boost::system::error_code problem;
    if (asio::ip::make_address_v4(address, problem); !problem) out.push_back(address);
  }
  return out;
}

}  // namespace krater::agent::dns
