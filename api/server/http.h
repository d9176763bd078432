// Requests and responses as values, between the connection (which knows sockets) and the service
// (which knows the API). Bodies are ropes of shared pieces, so that a list of ten thousand objects
// is never copied into one string.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/auth/authenticator.h"
#include "api/server/query.h"
#include "model/object.h"

namespace krater::api {

using Header = std::pair<std::string, std::string>;

struct Request {
  std::string method;
  std::string target;  // as sent
  std::string path;    // as sent, without the query
  Query query;
  std::vector<Header> headers;
  std::string body;
  std::string remote{};  // the other end's IP address
  std::optional<PresentedCertificate> certificate{};

  // Case-insensitive; "" when absent. Several headers of one name: the first.
  std::string_view header(std::string_view name) const;
  // All headers of that name, joined with ", ".
  std::string joined_header(std::string_view name) const;
};

class Rope {
 public:
  Rope() = default;
  explicit Rope(std::string text) { add(std::move(text)); }
  void add(std::string text);
  void add(Bytes text);
  // `text` must live for ever (a literal).
  void add_literal(std::string_view text);

  struct Piece {
    std::string_view bytes;
    std::shared_ptr<const void> owner;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::size_t size() const { return size_; }
  std::string text() const;

 private:
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

// Where a streaming answer writes to. On the connection's strand.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  // One chunk, flushed. False once the client is gone, too slow, or was told to stop.
  virtual boost::asio::awaitable<bool> write(std::string bytes) = 0;
  // Returns when notify() was called, the server wants to stop, the client is gone, or `limit` has
  // passed.
  virtual boost::asio::awaitable<void> wait(std::chrono::steady_clock::duration limit) = 0;
  // Makes wait() return; callable on any thread and after the stream has ended.
  virtual std::function<void()> notifier() = 0;
  // The server stops or the client is gone: finish now.
  virtual bool ending() const = 0;
};
using BodyStream = std::function<boost::asio::awaitable<void>(BodyWriter&)>;

struct UpgradeContext;  // api/server/upgrade.h
using Upgrade = std::function<boost::asio::awaitable<void>(UpgradeContext&)>;

struct Response {
  int status = 200;
  std::vector<Header> headers{};
  Rope body{};
  BodyStream stream{};  // when set: the body, chunked
  Upgrade upgrade{};    // when set: takes the connection over; nothing else is sent

  void set(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
  }
};

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";

Response respond(int status, std::string_view content_type, std::string body);
Response respond_json(int status, const Json& value);
// A Status object, with Retry-After where the error has one.
Response respond_error(const Error& error);

std::string_view reason_phrase(int status);

}  // namespace krater::api
