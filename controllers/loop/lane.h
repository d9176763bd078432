// One controller inside the loop: its queue, its passes, its counters. Control loop only.
#pragma once

#include <memory>
#include <set>

#include "controllers/loop/controller_loop.h"

namespace krater::controllers {

class ControllerLoop::Lane {
 public:
  Lane(ControllerLoop& owner, client::ObjectClient& client) : owner_(owner), client_(client) {}
  ~Lane() { *alive_ = false; }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void set(std::unique_ptr<Reconciler> reconciler);
  Reconciler& reconciler() { return *reconciler_; }
  // Keys that come before the caches are full wait for open().
  void add(const ObjectKey& key);
  void open();
  void stop();
  ControllerCounters counters() const;
  Enqueue enqueue();

 private:
  struct Pass;
  using PassPtr = std::shared_ptr<Pass>;

  void run(const ObjectKey& key);
  Plan decide(const ObjectKey& key);
  void go_on(const PassPtr& pass);
  bool is_over(const Pass& pass) const;
  void launch(const PassPtr& pass);
  void answered(const PassPtr& pass, std::size_t step, std::size_t index,
                const Result<ObjectPtr>& result);
  void log_phase(Pass& pass, const ObjectKey& target, const ObjectPtr& now);
  void conclude(const PassPtr& pass);
  void wait_until_seen(const PassPtr& pass);
  void finish(const PassPtr& pass);
  void rest(const PassPtr& pass);
  void tell(const Pass& pass, const EventNote& note);

  ControllerLoop& owner_;
  client::ObjectClient& client_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<client::WorkQueue> queue_;
  std::set<ObjectKey> early_;
  DecisionLog log_;  // null: none is kept
  ControllerCounters counters_;
  bool open_ = false, stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::controllers
