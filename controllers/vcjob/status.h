// The status of a Volcano Job as its controller authors it. Nobody else writes it, so it is written
// whole. Pure.
//
// The indexes of succeeded pods that are gone are kept in controlledResources ("succeeded-<task>"),
// so that what has been done is not done again. state.reason is the action that led to the phase;
// the next pass relies on it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/index_set.h"
#include "model/pod.h"
#include "model/volcano_job.h"

namespace krater::controllers::vcjob {

struct Counts {
  std::int64_t pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0, unknown = 0;
  std::map<std::string, std::map<std::string, std::int64_t>> by_task{};  // task -> pod phase

  void add(const std::string& task, PodPhase phase, std::int64_t number = 1);
  std::int64_t of(const std::string& task, PodPhase phase) const;
  Counts but_for_pending() const;
  bool quiet() const { return pending == 0 && running == 0 && terminating == 0; }
  friend bool operator==(const Counts&, const Counts&) = default;
};

struct Status {
  struct Condition {
    std::string phase;
    std::optional<WallTime> at{};
    friend bool operator==(const Condition&, const Condition&) = default;
  };

  std::optional<VolcanoJobPhase> phase{};
  std::string reason, message;
  std::optional<WallTime> transition{};
  std::int64_t min_available = 0, version = 0, retry_count = 0;
  Counts counts{};
  std::string running_duration{};
  std::map<std::string, std::string> controlled{};
  std::vector<Condition> conditions{};  // one a phase, the newest last

  static Status of(const VolcanoJobView& job);
  Json to_json_value() const;

  void enter(VolcanoJobPhase next, std::string why, std::string text, WallTime now);
  IndexSet succeeded_and_gone(const std::string& task) const;
  void add_succeeded_and_gone(const std::string& task, std::int64_t index);
  void forget_succeeded(const std::string& task);
  void forget_succeeded();  // of all tasks
  friend bool operator==(const Status&, const Status&) = default;
};

}  // namespace krater::controllers::vcjob
