// The driver of all controllers: one informer cache, one queue a controller, and the only place
// where plans become writes. Lives on the control loop; nothing here blocks; thousands of keys are
// in flight at once.
//
// What always holds:
//  - no pass starts before every kind has been listed;
//  - one pass of a key at a time, and it ends only when the cache has seen what it wrote (or
//  Options::see_within has
//    gone by), so a decision never rests on a past that the controller has changed itself;
//  - an exception of a reconciler fails its pass, not the process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "client/cache.h"
#include "client/event_recorder.h"
#include "client/work_queue.h"
#include "controllers/loop/decided.h"
#include "controllers/loop/plan.h"

namespace krater::controllers {

// Wakes a key from outside (an answer of a dashboard). Loop thread only; does nothing once the loop
// has stopped.
using Enqueue = std::function<void(const ObjectKey&)>;

struct ControllerCounters {
  std::string name;
  std::uint64_t passes = 0;     // reconcile() calls
  std::uint64_t writes = 0;     // asked for
  std::uint64_t conflicts = 0;  // writes that lost against a newer object
  std::uint64_t failures = 0;   // other writes that failed and were not fine, and exceptions
  std::uint64_t retries = 0;    // passes that end in a back-off
  std::uint64_t unseen = 0;     // passes that stopped waiting for the cache
  std::size_t queued = 0;       // ready now
  std::size_t pending = 0;      // ready or in a pass
};

class ControllerLoop {
 public:
  struct Options {
    client::WorkQueue::Backoff backoff{};
    Duration see_within = std::chrono::seconds(5);
    Duration ending_namespace_pause =
        std::chrono::seconds(30);  // before a key whose namespace takes nothing new is tried again
    // Of a controller's name; one that is not wanted is never added. Unset: all are.
    std::function<bool(std::string_view)> wanted{};
    // Of a controller's name: where the phases that it writes and the Events that it tells are
    // logged; unset, or null of a name: nowhere.
    std::function<DecisionLog(std::string_view)> log_of{};
    std::size_t writes_at_once = 64;  // of one pass
    std::size_t failures_at_most =
        16;  // of one step, before its remaining writes are left to the retry
  };

  // `client`: what is watched, and what controllers without an own client write through.
  ControllerLoop(Loop& loop, const WallClock& clock, client::ObjectClient& client, Options options);
  ControllerLoop(Loop& loop, const WallClock& clock, client::ObjectClient& client)
      : ControllerLoop(loop, clock, client, Options()) {}
  ~ControllerLoop();
  ControllerLoop(const ControllerLoop&) = delete;
  ControllerLoop& operator=(const ControllerLoop&) = delete;

  // Before start(). `as`: the client it writes with (its own identity), outliving the loop.
  void add(std::unique_ptr<Reconciler> reconciler, client::ObjectClient* as = nullptr);
  // For controllers that are woken by more than objects.
  void add(const std::function<std::unique_ptr<Reconciler>(Enqueue)>& make,
           client::ObjectClient* as = nullptr);
  // Before start(): told of every change of a kind that some controller watches.
  void observe(const Kind& kind, client::Cache::Handler handler);
  void start();
  // One more kind for a controller that runs (a CRD came up). The name must be an added
  // controller's.
  void add_interest(std::string_view controller, Interest interest);
  // A kind is not served any more and all its objects are gone: nobody is interested in it from now
  // on.
  void drop_kind(const Kind& kind);
  // A kind is served in this version from now on. Nothing when nobody is interested in it.
  void follow_kind(const Kind& kind);
  void enqueue(std::string_view controller, const ObjectKey& key);
  // No pass starts and no plan goes on afterwards; writes in flight are forgotten. Idempotent.
  void stop();

  const client::Cache& cache() const { return cache_; }
  bool synced() const { return running_; }
  // By name order of registration.
  std::vector<ControllerCounters> counters() const;
  // True when no key of any controller is ready or in a pass (delays not counted).
  bool quiet() const;

 private:
  class Lane;  // one controller
  bool wanted(std::string_view controller) const;
  Lane& lane(std::string_view controller);
  void listen(Lane& lane, Interest interest);

  Loop& loop_;
  const WallClock& clock_;
  client::ObjectClient& client_;
  Options options_;
  client::Cache cache_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  bool started_ = false, running_ = false, stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::controllers
