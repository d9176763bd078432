#include "api/server/response_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>

#include "api/server/gzip.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

// Small pieces are gathered up to here, so that they share TLS records and system calls; large
// answers never exist as one string.
constexpr std::size_t kGather = 64 << 10;

std::string head_of(const Response& response, HttpVersion version, std::string_view framing) {
  std::string out = fmt::format("HTTP/1.{} {} {}\r\n", version.minor, response.status,
                                reason_phrase(response.status));
  for (const auto& [name, value] : response.headers) {
    out += name;
    out += ": ";
    // A line break in a value would be a header of its own.
    std::copy_if(value.begin(), value.end(), std::back_inserter(out),
                 [](char c) { return c != '\r' && c != '\n'; });
    out += "\r\n";
  }
  out += framing;
  if (!version.keep_alive) {
    out += "Connection: close\r\n";
  } else if (version.minor == 0) {
    out += "Connection: keep-alive\r\n";
  }
  return out += "\r\n";
}

asio::awaitable<bool> send_all(TlsStream& stream, std::string_view bytes,
                               std::chrono::seconds limit) {
  while (!bytes.empty()) {
    boost::beast::get_lowest_layer(stream).expires_after(limit);
    auto [failed, n] =
        co_await stream.async_write_some(asio::buffer(bytes.data(), bytes.size()), kNoThrow);
    if (failed) co_return false;
    bytes.remove_prefix(n);
  }
  co_return true;
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

asio::awaitable<bool> send_chunk(TlsStream& stream, std::string& bytes,
                                 std::chrono::seconds limit) {
  bytes.insert(0, fmt::format("{:x}\r\n", bytes.size()));
  bytes += "\r\n";
  const bool sent = co_await send_all(stream, bytes, limit);
  bytes.clear();
  co_return sent;
}

asio::awaitable<bool> write_compressed(TlsStream& stream, const Response& response,
                                       HttpVersion version, std::chrono::seconds limit) {
  const std::string head = head_of(response, version,
                                   "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
                                   "Transfer-Encoding: chunked\r\n");
  if (!co_await send_all(stream, head, limit)) co_return false;
  GzipEncoder encoder;
  std::string ready;
  for (const Rope::Piece& piece : response.body.pieces()) {
    // A large piece in parts: between them other connections have their turn.
    for (std::string_view rest = piece.bytes; !rest.empty();) {
      const std::string_view part = rest.substr(0, kGather * 4);
      rest.remove_prefix(part.size());
      encoder.add(part, ready);
      if (ready.size() < kGather) continue;
      if (!co_await send_chunk(stream, ready, limit)) co_return false;
    }
  }
  encoder.finish(ready);
  if (!co_await send_chunk(stream, ready, limit)) co_return false;
  co_return co_await send_all(stream, "0\r\n\r\n", limit);
}

bool worth_compressing(const Response& response, HttpVersion version) {
  return version.gzip && !version.head && version.minor > 0 && response.status == 200 &&
         response.body.size() >= kGzipFrom;
}

}  // namespace

asio::awaitable<bool> write_response(TlsStream& stream, const Response& response,
                                     HttpVersion version, std::chrono::seconds limit) {
  if (worth_compressing(response, version)) {
    co_return co_await write_compressed(stream, response, version, limit);
  }
  const bool body = has_body(response.status);
  std::string gathered = head_of(
      response, version, body ? fmt::format("Content-Length: {}\r\n", response.body.size()) : "");
  if (body && !version.head) {
    for (const Rope::Piece& piece : response.body.pieces()) {
      if (gathered.size() + piece.bytes.size() > kGather && !gathered.empty()) {
        if (!co_await send_all(stream, gathered, limit)) co_return false;
        gathered.clear();
      }
      if (piece.bytes.size() >= kGather) {
        if (!co_await send_all(stream, piece.bytes, limit)) co_return false;
      } else {
        gathered += piece.bytes;
      }
    }
  }
  co_return co_await send_all(stream, gathered, limit);
}

asio::awaitable<bool> StreamWriter::begin(const Response& response) {
  // HTTP/1.0 knows no chunks: there the end of the connection is the end of the body.
  version_.keep_alive = false;
  co_return co_await send(
      head_of(response, version_, version_.minor == 0 ? "" : "Transfer-Encoding: chunked\r\n"));
}

asio::awaitable<bool> StreamWriter::write(std::string bytes) {
  if (*gone_) co_return false;
  if (bytes.empty()) co_return true;
  if (version_.minor == 0) co_return co_await send(std::move(bytes));
  co_return co_await send(fmt::format("{:x}\r\n", bytes.size()) + std::move(bytes) + "\r\n");
}

asio::awaitable<void> StreamWriter::finish() {
  if (!*gone_ && version_.minor != 0) co_await send("0\r\n\r\n");
}

asio::awaitable<bool> StreamWriter::send(std::string bytes) {
  const bool sent = co_await send_all(stream_, bytes, limit_);
  // While nothing is to be said the stream may be silent for as long as it likes.
  boost::beast::get_lowest_layer(stream_).expires_never();
  if (!sent) *gone_ = true;
  co_return sent;
}

}  // namespace krater::api
