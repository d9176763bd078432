// One informer's conversation with the API over HTTP: list, watch, resume, and list again after
// 410.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/http.h"
#include "client/object_client.h"

namespace krater::client {

struct HttpWatchDeps {
  HttpClient& http;
  Loop& loop;
  Rng& rng;
  std::string server_url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::size_t max_reply_bytes;
};

std::unique_ptr<Subscription> make_http_watch(HttpWatchDeps deps, WatchQuery query,
                                              WatchHandlers handlers);

}  // namespace krater::client
