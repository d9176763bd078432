#include "api/server/request_reader.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "api/registry/status.h"
#include "base/strings.h"

namespace krater::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

// The answer to a request that cannot be read; nothing when the client is simply gone.
std::optional<Response> refusal_for(const boost::system::error_code& failed,
                                    const ServerLimits& limits) {
  if (failed == http::error::body_limit) {
    return respond_error(make_error(
        Code::TooLarge, "Request entity too large: limit is " + std::to_string(limits.body_bytes)));
  }
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    return respond(431, kTextType, "431 Request Header Fields Too Large\n");
  const bool gone = failed == http::error::end_of_stream ||
                    failed == http::error::partial_message || failed == beast::error::timeout ||
                    failed.category() != make_error_code(http::error::bad_method).category();
  if (gone) return std::nullopt;
  return respond(400, kTextType, "400 Bad Request: " + failed.message() + "\n");
}

Result<Request> to_request(http::request<http::string_body> message) {
  Request out;
  out.method = std::string(view_of(message.method_string()));
  const std::string_view target = view_of(message.target());
  const std::size_t question = target.find('?');
  out.path = std::string(target.substr(0, question));
  TRY_ASSIGN(out.query,
             Query::parse(question == std::string_view::npos ? std::string_view()
                                                             : target.substr(question + 1)));
  for (const auto& field : message)
    out.headers.emplace_back(view_of(field.name_string()), view_of(field.value()));
  out.body = std::move(message.body());
  return out;
}

}  // namespace

asio::awaitable<bool> RequestReader::wait_for_first_byte() {
  if (buffer_.size() > 0) co_return true;  // the next request came together with the last one
  beast::get_lowest_layer(stream_).expires_after(limits_.idle);
  auto [failed, n] = co_await stream_.async_read_some(buffer_.prepare(16 << 10), kNoThrow);
  if (failed) co_return false;
  buffer_.commit(n);
  co_return true;
}

asio::awaitable<ReadOutcome> RequestReader::read() {
  ReadOutcome out;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  parser.body_limit(limits_.body_bytes);
  beast::get_lowest_layer(stream_).expires_after(limits_.header);
  auto [head_failed, head_bytes] =
      co_await http::async_read_header(stream_, buffer_, parser, kNoThrow);
  if (!head_failed) {
    const auto& head = parser.get();
    out.minor_version = head.version() == 10 ? 0 : 1;
    out.keep_alive = parser.keep_alive();
    beast::get_lowest_layer(stream_).expires_after(limits_.body);
    if (to_lower(view_of(head[http::field::expect])) == "100-continue" && !parser.is_done()) {
      auto [failed, n] = co_await asio::async_write(
          stream_, asio::buffer(kContinue.data(), kContinue.size()), kNoThrow);
      out.closed = static_cast<bool>(failed);
      if (failed) co_return out;
    }
    if (!parser.is_done()) {
      auto [failed, n] = co_await http::async_read(stream_, buffer_, parser, kNoThrow);
      head_failed = failed;
    }
  }
  if (head_failed) {
    out.refused = refusal_for(head_failed, limits_);
    out.closed = !out.refused;
    co_return out;
  }
  Result<Request> request = to_request(parser.release());
  if (request) {
    out.request = *std::move(request);
  } else {
    out.refused = respond_error(request.error());
  }
  co_return out;
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
