// ObjectClient over the public API: what an agent on any node uses. List, watch, resume and relist
// as an informer does. Lives on one loop, the HttpClient's.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "base/http.h"
#include "client/object_client.h"

namespace krater::client {

struct HttpObjectClientOptions {
  std::string server_url;  // "https://127.0.0.1:6443"
  std::string bearer_token{};
  std::string user_agent = "krater-agent";
  Duration request_timeout = std::chrono::seconds(30);
  std::size_t max_reply_bytes = 256 << 20;
};

std::unique_ptr<ObjectClient> make_http_object_client(HttpClient& http, Loop& loop, Rng& rng,
                                                      HttpObjectClientOptions options);

// "/api/v1/namespaces/default/pods/p1/status"; name and subresource may be empty.
std::string api_path(const Kind& kind, std::string_view name_space, std::string_view name,
                     std::string_view subresource = {});
std::string percent_encode(std::string_view text);
// A reply's Status as an Error; the HTTP status decides the code where the body is no Status.
Error error_from_reply(const HttpResponse& reply);

}  // namespace krater::client
