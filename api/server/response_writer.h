// Answers onto the wire: whole ones with a length, streams in chunks. On the connection's strand.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "api/server/await.h"
#include "api/server/http.h"
#include "api/server/upgrade.h"

namespace krater::api {

struct HttpVersion {
  unsigned minor = 1;  // of HTTP/1
  bool keep_alive = true;
  bool head = false;  // the request was HEAD: no body
  bool gzip = false;  // the client accepts it
};

// `limit`: without progress for that long the client counts as gone. False: it is.
boost::asio::awaitable<bool> write_response(TlsStream& stream, const Response& response,
                                            HttpVersion version, std::chrono::seconds limit);

class StreamWriter final : public BodyWriter {
 public:
  StreamWriter(TlsStream& stream, std::shared_ptr<Bell> bell, const bool& stopping,
               HttpVersion version, std::chrono::seconds limit)
      : stream_(stream),
        bell_(std::move(bell)),
        stopping_(stopping),
        version_(version),
        limit_(limit) {}

  boost::asio::awaitable<bool> begin(const Response& response);
  boost::asio::awaitable<void> finish();
  // Set by whoever notices that the client left.
  std::shared_ptr<bool> gone() const { return gone_; }

  boost::asio::awaitable<bool> write(std::string bytes) override;
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::duration limit) override {
    return bell_->wait(limit);
  }
  std::function<void()> notifier() override {
    return [bell = bell_] { bell->ring(); };
  }
  bool ending() const override { return stopping_ || *gone_; }

 private:
  boost::asio::awaitable<bool> send(std::string bytes);

  TlsStream& stream_;
  std::shared_ptr<Bell> bell_;
  const bool& stopping_;
  HttpVersion version_;
  std::chrono::seconds limit_;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
};

}  // namespace krater::api
