// The agent's end of the socket to one shim: requests and their answers, events, and the news that
// it is gone. On the agent's loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/io/poller.h"
#include "agent/shim/files.h"
#include "base/env.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::agent {

class ShimLink {
 public:
  struct Handlers {
    std::function<void(const Json& event)> on_event;
    std::function<void()>
        on_closed;  // once; pending requests have been answered with Code::Unavailable before
  };

  // Code::Unavailable when no shim listens there.
  static Result<std::unique_ptr<ShimLink>> connect(const std::string& directory, FdPoller& poller,
                                                   Loop& loop, Handlers handlers);
  ShimLink(Fd fd, FdPoller& poller, Loop& loop, Handlers handlers);
  ShimLink(const ShimLink&) = delete;
  ShimLink& operator=(const ShimLink&) = delete;

  // `done` gets what stands under "ok". It never runs from inside this call.
  void request(JsonObject message, std::function<void(Result<Json>)> done);

 private:
  void readable();
  void flush();
  void close();

  Fd fd_;
  FdPoller& poller_;
  Loop& loop_;
  Handlers handlers_;
  std::unique_ptr<FdPoller::Watch> reading_, writing_;
  std::string in_, out_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, std::function<void(Result<Json>)>> pending_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
