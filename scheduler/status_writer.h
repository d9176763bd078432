// Writes what sessions report, off the cycle and only what changed: PodGroup status, the
// PodScheduled condition of waiting pods, and the events that go with them. Phases and counts go
// out at once (Running a moment later, with how many run); words and figures are held back a moment
// and then follow at most once a second a job, so that a passing state is never written and a
// changing figure does not become a stream. Lives on the scheduler's loop; at most one write of one
// object is in flight.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"
#include "scheduler/job_map.h"
#include "scheduler/report.h"

namespace krater::scheduler {

// Why a pod waits.
struct Said {
  std::string reason, message;
  friend bool operator==(const Said&, const Said&) = default;
};

class StatusWriter {
 public:
  struct Pace {
    Duration words_after = std::chrono::milliseconds(300);
    Duration words_again = std::chrono::seconds(1);
    // The events that go with them, of the group and of its pods: the first time after this, then
    // twice as long, and so on, as long as the reason stays the same.
    Duration event_again = std::chrono::seconds(1);
    Duration event_at_last = std::chrono::seconds(30);
    Duration numbers_again = std::chrono::milliseconds(200);  // within one phase
    // A gang that has its nodes is told to run with how many of it run, or when this has gone by.
    Duration running_after = std::chrono::seconds(1);
    // As long as a gang's members keep coming, nobody is told how many are missing.
    Duration gathering_at_most = std::chrono::seconds(10);
    Duration retry_after = std::chrono::seconds(1);
    std::size_t in_flight = 64;
  };

  // `newest` gives the current form of a task that still waits, null otherwise.
  using Newest = std::function<TaskSpecPtr(const TaskSpec&)>;
  StatusWriter(client::ObjectClient& client, Loop& loop, const WallClock& clock,
               client::EventRecorder& events, Newest newest, Pace pace);
  ~StatusWriter() { stop(); }
  // No write begins and no timer is left afterwards.
  void stop();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // The newest word on a job. `held`: binds of it are in flight, the next report will know better.
  void take(JobReport report, bool held);
  // The job is gone, or nothing of it waits and it has no group.
  void drop(const JobKey& key);
  // A bind did not go through.
  void bind_failed(const TaskSpecPtr& task, const std::string& message);
  // Writes waiting or under way: 0 means everything said is stored.
  std::size_t pending() const { return ready_.size() + in_flight_; }

 private:
  struct PodTold {
    Said condition{}, event{};     // as they were last written
    bool promise_is_void = false;  // its nomination was taken away
  };
  // How often the same is said in other words: after a pause that doubles.
  struct Beat {
    SteadyTime due{};
    Duration pause{};
  };
  struct Record {
    JobReport report;
    bool held = false;
    PodGroupStatus stored{};          // last known to be in the store
    std::string stored_why{};         // its annotation krater.io/why-pending
    std::string stored_hyper_node{};  // and volcano.sh/job-allocated-hypernode
    Revision stored_at{};             // its revision
    bool writing = false;
    bool queued = false;
    SteadyTime words_due{};  // words may go out from then on
    SteadyTime gathers_since{};
    SteadyTime numbers_due{};  // how many run may be told from then on
    SteadyTime phase_due{};    // and a new phase
    Loop::TimerId timer = 0;
    SteadyTime timer_due{};
    std::string told_unschedulable{}, told_code{};
    Beat group_event{}, pod_events{};
    bool told_ready = false;
    std::map<std::string, PodTold> told_pods{};  // by uid
  };

  void look(const JobKey& key, Record& record);
  void look_again(const JobKey& key, Record& record, SteadyTime when);
  void queue(const JobKey& key, Record& record);
  void drain();
  void write_group(const JobKey& key, Record& record, bool words);
  void write_pods(const JobKey& key, Record& record);
  void write_pod(const JobKey& key, const TaskSpec& newest, const Said& what, bool promise_is_void);
  void tell_pod(const TaskSpec& newest, const Said& what);
  void tell(Record& record);
  void told_at_last(Beat& beat, bool anew) const;
  static const PodGroupCondition* waits_for(const Record& record);
  static bool event_news(const Record& record);
  static bool pod_event_news(const Record& record);
  // When the first event that has something to say may say it.
  static std::optional<SteadyTime> events_due(const Record& record);
  static bool group_news(const Record& record);
  static bool about_to_run(const Record& record);
  bool pods_news(const Record& record) const;
  void retry_later(const JobKey& key);

  client::ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  client::EventRecorder& events_;
  Newest newest_;
  Pace pace_;
  JobMap<Record> records_;
  std::deque<JobKey> ready_;
  std::size_t in_flight_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
