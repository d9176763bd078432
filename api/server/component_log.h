// The log of a part of the control plane that runs in this process, as pods/log shows it for the
// pod that mirrors it (label krater.io/mirror): the newest lines, in memory. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.h"

namespace krater::api {

class ComponentLog {
 public:
  explicit ComponentLog(std::size_t keep_bytes = std::size_t{4} << 20) : keep_bytes_(keep_bytes) {}

  struct Line {
    WallTime time;
    std::string text;  // without a line feed
  };
  // Lines from number `from` on that are still there, and the number of the next one to come.
  struct Piece {
    std::vector<Line> lines{};
    std::uint64_t next = 0;
  };

  void append(WallTime time, std::string text);
  Piece read(std::uint64_t from) const;

  // `told` is called after every line, on the thread that wrote it, until the handle is dropped.
  using Listening = std::shared_ptr<void>;
  Listening listen(std::function<void()> told);

 private:
  struct Listener {
    std::function<void()> told;
  };

  const std::size_t keep_bytes_;
  mutable std::mutex mutex_;
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t first_ = 0;  // number of lines_.front()
  std::vector<std::weak_ptr<Listener>> listeners_;
};

// By the value of the label krater.io/mirror.
using ComponentLogs = std::map<std::string, std::shared_ptr<ComponentLog>, std::less<>>;

}  // namespace krater::api
