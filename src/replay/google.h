// Tasks of Google's cluster traces: events in any order become jobs. Pure.
//
// A task comes at its first SUBMIT and runs as long as it ran the last time it was scheduled; tasks
// are no gang, as Borg has none. Times count from the first submission.
#pragma once

#include <limits>

#include "replay/trace.h"

namespace krater::replay {

enum class GoogleStep { Submit, Schedule, End, Other };

struct GoogleEvent {
  std::size_t line = 0;
  std::int64_t at = 0;  // microseconds
  GoogleStep step = GoogleStep::Other;
  std::int64_t job = 0, index = 0;
  std::optional<std::int64_t> priority{};
  std::optional<std::int64_t> cpu{}, memory{};  // 10^-9 of the largest machine
};

Result<std::int64_t> google_time(std::string_view text, std::size_t line);

class GoogleTasks {
 public:
  void add(const GoogleEvent& event);
  void node(const std::string& name, const NodeSize& size) { out_.nodes.emplace_back(name, size); }
  void note(std::string text) { out_.notes.push_back(std::move(text)); }
  Skipped& skipped() { return skipped_; }
  bool empty() const { return events_.empty(); }
  Trace finish(const std::string& file, const TraceOptions& options);

 private:
  struct Life {
    std::size_t line = 0;
    std::optional<std::int64_t> submitted{}, began{}, ran{};  // began: and has not ended
    std::int64_t priority = 0;
    std::optional<std::int64_t> cpu{}, memory{};
  };
  static void play(const GoogleEvent& event, Life& life);

  std::vector<GoogleEvent> events_;
  Trace out_;
  Skipped skipped_;
};

}  // namespace krater::replay
