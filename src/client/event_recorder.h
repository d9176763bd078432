// Tells users what happened, as core/v1 Events, the way client-go's recorder does: the same event
// about the same object is one Event whose count grows, many similar ones become one "combined"
// Event, and an object that is talked about too much is cut short. Fire and forget: a failed write
// loses an event, never work. Lives on one loop, the client's. At most one write of one Event is in
// flight.
//
// Names derive from what is said, so that a restart goes on counting where the last process
// stopped.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/env.h"
#include "client/object_client.h"

namespace krater::client {

enum class EventType { Normal, Warning };

struct EventText {
  EventType type = EventType::Normal;
  std::string reason;        // UpperCamelCase; cut at 128 bytes
  std::string message;       // cut at 1024 bytes
  std::string action{};      // what was done, for the events.k8s.io view
  std::string field_path{};  // "spec.containers{main}"
  // What goes on being so while its figures change: one Event for all that is said under the
  // reason, with the newest message. How often it is said is up to the caller; no limit of the
  // object's applies.
  bool current = false;
};

class EventRecorder {
 public:
  struct Limits {
    std::size_t remembered = 4096;  // Events whose count we carry on; the least used is forgotten
    int burst = 25;                 // events about one object at once …
    Duration refill = std::chrono::minutes(5);  // … and one more each
    std::size_t similar = 10;  // different messages of one reason before they are combined …
    Duration similar_within = std::chrono::minutes(10);  // … in this time
    // Writes of all of them: so many at once, then one in each of these spaces of time, so that ten
    // thousand pods that start together are not held up by what is told of them.
    int writes_at_once = 200;
    Duration write_every = std::chrono::milliseconds(2);
    std::size_t waiting = 20'000;  // events that wait for their turn; more are dropped
  };

  // `component`: source.component and reportingComponent ("volcano", "kubelet"). `host`: the node,
  // if any.
  EventRecorder(ObjectClient& client, Loop& loop, const WallClock& clock, std::string component,
                std::string host, Limits limits);
  EventRecorder(ObjectClient& client, Loop& loop, const WallClock& clock, std::string component,
                std::string host = {})
      : EventRecorder(client, loop, clock, std::move(component), std::move(host), Limits()) {}
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void record(const Object& about, EventText text);
  void normal(const Object& about, std::string reason, std::string message) {
    record(about, {EventType::Normal, std::move(reason), std::move(message)});
  }
  void warning(const Object& about, std::string reason, std::string message) {
    record(about, {EventType::Warning, std::move(reason), std::move(message)});
  }
  void keep_current(const Object& about, EventType type, std::string reason, std::string message) {
    record(about, {type, std::move(reason), std::move(message), {}, {}, /*current=*/true});
  }
  // Events not written because of the limits or a failed write.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Line;    // one Event we know of
  struct Talker;  // one object: its budget and its similar messages
  using LinePtr = std::shared_ptr<Line>;

  bool spend(Talker& talker);
  bool combine(Talker& talker, const EventText& text);
  LinePtr line_of(const Object& about, const EventText& text, bool combined);
  void send(const LinePtr& line);
  void write(const LinePtr& line);
  void earn();
  void drain();
  void create(const LinePtr& line);
  void count_on(const LinePtr& line);
  void adopt(const LinePtr& line);
  void settle(const LinePtr& line, bool written);

  ObjectClient& client_;
  Loop& loop_;
  const WallClock& clock_;
  std::string component_, host_;
  Limits limits_;
  std::list<LinePtr> recent_;                                            // most recently used first
  std::unordered_map<std::string, std::list<LinePtr>::iterator> lines_;  // by namespace/name
  std::list<std::pair<std::string, std::unique_ptr<Talker>>> talkers_;   // most recently used first
  std::unordered_map<std::string, decltype(talkers_)::iterator> talker_of_;
  std::deque<LinePtr> waiting_;  // in flight, and not written yet
  int writes_left_;
  SteadyTime earned_{};  // when writes_left_ was right
  Loop::TimerId timer_ = 0;
  std::uint64_t dropped_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::client
