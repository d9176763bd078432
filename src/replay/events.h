// What Events of Kubernetes tell of pods that may be gone long since: when they came, where they
// ran and for how long, whose they were. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/trace.h"

namespace krater::replay {

class EventLog {
 public:
  // Of v1 or events.k8s.io.
  static bool is_event(const Json& object);

  // Code::BadRequest, with `where`, for one that is about nothing or has no time.
  Result<void> add(const Json& event, const std::string& where);
  bool empty() const { return pods_.empty() && nodes_.empty(); }

  // How long the pod "default/p" ran the last time, if both ends are told.
  std::optional<Duration> ran(const std::string& pod) const;

  // Jobs of the pods that are not in `known`; `at` is empty, the time they came is beside it.
  struct Told {
    GangShape shape{};
    WallTime came{};
  };
  std::vector<Told> jobs(const std::set<std::string>& known, const TraceOptions& options,
                         std::vector<std::string>& notes) const;
  const std::set<std::string>& nodes() const { return nodes_; }

 private:
  struct PodStory {
    std::optional<WallTime> seen{}, scheduled{}, started{}, ended{};
    std::string owner{};  // "Job/default/train"
  };
  struct GroupStory {
    std::optional<std::int64_t> min{};
  };
  void tell_pod(const std::string& name, const std::string& reason, const std::string& message,
                WallTime first, WallTime last);
  void tell_owner(const std::string& kind, const std::string& name_space, const std::string& name,
                  const std::string& reason, const std::string& message, WallTime first,
                  WallTime last);
  std::optional<Duration> ran(const PodStory& pod) const;
  std::string job_of(const std::string& pod, const PodStory& story) const;

  std::map<std::string, PodStory> pods_;        // by "default/p"
  std::map<std::string, GroupStory> groups_;    // by "default/train"
  std::map<std::string, WallTime> owner_ends_;  // by "Job/default/train"
  std::set<std::string> nodes_;
};

}  // namespace krater::replay
