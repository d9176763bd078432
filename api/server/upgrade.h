// What a response that takes the connection over is given. Included only by those who do.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <functional>

namespace krater::api {

using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

struct UpgradeContext {
  TlsStream& stream;
  boost::beast::flat_buffer& buffer;  // may hold bytes that came with the request
  boost::beast::http::request<boost::beast::http::empty_body> head;
  // Called (on the connection's strand) when the server stops; set by the upgraded protocol.
  std::function<void()>& on_stop;
};

}  // namespace krater::api
