#include "api/server/request_reader.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "api/registry/status.h"
#include "base/strings.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kSmallBody = 64 << 10;
constexpr std::size_t kReadSize = 16 << 10;
constexpr auto kDiscard = std::chrono::seconds(3);
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

Error body_too_large(const ServerLimits& limits) {
  return make_error(Code::TooLarge,
                    "Request entity too large: limit is " + std::to_string(limits.body_bytes));
}

// The answer to a request that cannot be read; nothing when the client is simply gone.
std::optional<Response> refusal_for(const boost::system::error_code& failed,
                                    const ServerLimits& limits) {
  if (failed == http::error::body_limit) return respond_error(body_too_large(limits));
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    return respond(431, kTextType, "431 Request Header Fields Too Large\n");
  const bool gone = failed == http::error::end_of_stream ||
                    failed == http::error::partial_message || failed == beast::error::timeout ||
                    failed.category() != make_error_code(http::error::bad_method).category();
  if (gone) return std::nullopt;
  return respond(400, kTextType, "400 Bad Request: " + failed.message() + "\n");
}

}  // namespace

Result<Request> request_of_head(const http::request<http::string_body>& message) {
  Request out;
  out.method = std::string(view_of(message.method_string()));
  const std::string_view target = view_of(message.target());
  out.target = std::string(target);
  const std::size_t question = target.find('?');
  out.path = std::string(target.substr(0, question));
  TRY_ASSIGN(out.query,
             Query::parse(question == std::string_view::npos ? std::string_view()
                                                             : target.substr(question + 1)));
  for (const auto& field : message)
    out.headers.emplace_back(view_of(field.name_string()), view_of(field.value()));
  return out;
}

asio::awaitable<bool> RequestReader::wait_for_first_byte() {
  if (buffer_.size() > 0) co_return true;  // the next request came together with the last one
  beast::get_lowest_layer(stream_).expires_after(limits_.idle);
  auto [failed, n] = co_await stream_.async_read_some(buffer_.prepare(kReadSize), kNoThrow);
  if (failed) co_return false;
  buffer_.commit(n);
  co_return true;
}

bool RequestReader::take_failure(const boost::system::error_code& failed, ReadOutcome& out) const {
  if (!failed) return false;
  out.refused = refusal_for(failed, limits_);
  out.closed = !out.refused;
  return true;
}

// Of what has been received. need_more: that was not all.
boost::system::error_code RequestReader::parse_held(Part part) {
  const auto done = [&] {
    return part == Part::Head ? parser_.is_header_done() : parser_.is_done();
  };
  boost::system::error_code failed = http::error::need_more;
  std::size_t used = 1;
  while (!done() && buffer_.size() > 0 && used > 0) {
    // Beast's parser throws when it meets a field or trailer that it cannot hold.
    try {
      used = parser_.put(buffer_.data(), failed);
    } catch (const std::length_error&) {
      return http::error::header_limit;
    }
    buffer_.consume(used);
    if (failed) return failed;
  }
  return done() ? boost::system::error_code() : http::error::need_more;
}

asio::awaitable<boost::system::error_code> RequestReader::parse(Part part) {
  parser_.eager(part == Part::All);
  for (;;) {
    const boost::system::error_code parsed = parse_held(part);
    if (parsed != http::error::need_more) co_return parsed;
    // Only heads, trailers and the lines between chunks are held until they are whole.
    if (buffer_.size() > limits_.header_bytes + kReadSize) co_return http::error::header_limit;
    auto [failed, n] = co_await stream_.async_read_some(buffer_.prepare(kReadSize), kNoThrow);
    if (failed) co_return failed;
    buffer_.commit(n);
  }
}

asio::awaitable<void> RequestReader::read_head(ReadOutcome& out) {
  parser_.header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  parser_.body_limit(boost::none);  // judged once it is known who asks
  beast::get_lowest_layer(stream_).expires_after(limits_.header);
  const boost::system::error_code failed = co_await parse(Part::Head);
  if (take_failure(failed, out)) co_return;
  const auto& head = parser_.get();
  out.minor_version = head.version() == 10 ? 0 : 1;
  out.keep_alive = parser_.keep_alive();
  out.has_body = !parser_.is_done();
  Result<Request> request = request_of_head(head);
  if (request) {
    out.request = *std::move(request);
  } else {
    out.refused = respond_error(request.error());
  }
}

asio::awaitable<void> RequestReader::read_body(ReadOutcome& out) {
  if (parser_.content_length().value_or(0) > limits_.body_bytes) {
    out.refused = respond_error(body_too_large(limits_));
    co_return;
  }
  parser_.body_limit(limits_.body_bytes);  // of chunks, whose sum nobody has announced
  beast::get_lowest_layer(stream_).expires_after(limits_.body);
  if (waits_for_leave()) {
    auto [failed, n] = co_await asio::async_write(
        stream_, asio::buffer(kContinue.data(), kContinue.size()), kNoThrow);
    out.closed = static_cast<bool>(failed);
    if (failed) co_return;
  }
  const boost::system::error_code failed = co_await parse(Part::All);
  if (!take_failure(failed, out)) out.request.body = std::move(parser_.get().body());
}

bool RequestReader::waits_for_leave() const {
  return to_lower(view_of(parser_.get()[http::field::expect])) == "100-continue";
}

bool RequestReader::body_is_small() const {
  const auto announced = parser_.content_length();
  return announced && *announced <= kSmallBody && !waits_for_leave();
}

asio::awaitable<void> RequestReader::discard() {
  constexpr std::uint64_t kMost = 16 << 20;
  std::uint64_t left = kMost;
  if (parser_.is_header_done())
    left = std::min(left, parser_.content_length_remaining().value_or(kMost));
  left -= std::min<std::uint64_t>(left, buffer_.size());
  buffer_.clear();
  beast::get_lowest_layer(stream_).expires_after(kDiscard);
  while (left > 0) {
    auto [failed, n] = co_await stream_.async_read_some(buffer_.prepare(64 << 10), kNoThrow);
    if (failed) co_return;
    left -= std::min<std::uint64_t>(left, n);
  }
}

http::request<http::empty_body> upgrade_head(const Request& request) {
  http::request<http::empty_body> out;
  out.method_string(request.method);
  out.target(request.path);
  out.version(11);
  for (const auto& [name, value] : request.headers) out.insert(name, value);
  return out;
}

}  // namespace krater::api
