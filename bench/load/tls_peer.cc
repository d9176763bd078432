#include "bench/load/tls_peer.h"

#include <time.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <thread>
#include <utility>

namespace krater::bench {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;

namespace {

std::string answer_with(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string thread_metrics() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total " +
         std::to_string(static_cast<double>(used.tv_sec) +
                        static_cast<double>(used.tv_nsec) / 1e9) +
         "\n";
}

}  // namespace

struct TlsPeer::State {
  State(const runtime::TlsIdentity& identity, const std::string& body) : answer(answer_with(body)) {
    tls.use_certificate_chain(asio::buffer(identity.certificate_pem));
    tls.use_private_key(asio::buffer(identity.key_pem), ssl::context::pem);
    thread = std::thread([this] { accept(); });
  }

  // Connection after connection, until the destructor makes one that is not meant to be served.
  void accept() {
    for (;;) {
      boost::system::error_code failed;
      tcp::socket socket(io);
      acceptor.accept(socket, failed);
      if (failed || stopping) return;
      socket.set_option(tcp::no_delay(true), failed);
      ssl::stream<tcp::socket> stream(std::move(socket), tls);
      stream.handshake(ssl::stream_base::server, failed);
      std::string request;
      while (!failed) {
        const std::size_t head = asio::read_until(
            stream, asio::dynamic_buffer(request, std::size_t{64} << 10), "\r\n\r\n", failed);
        if (failed) break;
        if (request.starts_with("GET /metrics ")) {
          asio::write(stream, asio::buffer(answer_with(thread_metrics())), failed);
        } else {
          asio::write(stream, asio::buffer(answer), failed);
        }
        request.erase(0, head);
      }
    }
  }

  const std::string answer;
  asio::io_context io;
  ssl::context tls{ssl::context::tls_server};
  tcp::acceptor acceptor{io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::atomic<bool> stopping = false;
  std::thread thread;
};

TlsPeer::TlsPeer(const runtime::TlsIdentity& identity, std::string body)
    : state_(std::make_unique<State>(identity, body)) {}

TlsPeer::~TlsPeer() {
  state_->stopping = true;
  boost::system::error_code ignored;
  // A thread that sleeps in accept() is woken by a connection, not by a close.
  tcp::socket(state_->io).connect(state_->acceptor.local_endpoint(), ignored);
  state_->thread.join();
}

std::string TlsPeer::url() const {
  return "https://127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
}

}  // namespace krater::bench
