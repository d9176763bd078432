#include "controllers/loop/controller_loop.h"

#include "base/check.h"
#include "base/log.h"
#include "controllers/loop/lane.h"

namespace krater::controllers {

ControllerLoop::ControllerLoop(Loop& loop, const WallClock& clock, client::ObjectClient& client,
                               Options options)
    : loop_(loop), clock_(clock), client_(client), options_(options), cache_(client) {
  CHECK(options_.writes_at_once > 0 && options_.failures_at_most > 0);
}

ControllerLoop::~ControllerLoop() {
  stop();
}

void ControllerLoop::add(std::unique_ptr<Reconciler> reconciler, client::ObjectClient* as) {
  add([&reconciler](const Enqueue&) { return std::move(reconciler); }, as);
}

void ControllerLoop::add(const std::function<std::unique_ptr<Reconciler>(Enqueue)>& make,
                         client::ObjectClient* as) {
  CHECK(!started_);
  lanes_.push_back(std::make_unique<Lane>(*this, as == nullptr ? client_ : *as));
  Lane& lane = *lanes_.back();
  lane.set(make(lane.enqueue()));
  if (!wanted(lane.reconciler().name())) lanes_.pop_back();
}

bool ControllerLoop::wanted(std::string_view controller) const {
  return !options_.wanted || options_.wanted(controller);
}

void ControllerLoop::observe(const Kind& kind, client::Cache::Handler handler) {
  CHECK(!started_);
  cache_.on_change(kind, std::move(handler));
}

void ControllerLoop::start() {
  CHECK(!started_ && loop_.on_loop_thread());
  started_ = true;
  for (const auto& lane : lanes_) {
    for (Interest& interest : lane->reconciler().interests()) listen(*lane, std::move(interest));
  }
  cache_.when_synced([this, alive = alive_] {
    if (!*alive || stopped_) return;
    running_ = true;
    log::info("controllers.synced", {{"controllers", lanes_.size()}});
    for (const auto& lane : lanes_) lane->open();
  });
}

void ControllerLoop::listen(Lane& lane, Interest interest) {
  cache_.on_change(interest.kind, [&lane, map = std::move(interest.map)](const ObjectPtr& before,
                                                                         const ObjectPtr& after) {
    if (!map) return lane.add((after ? after : before)->key());
    for (const ObjectKey& key : map(before, after)) lane.add(key);
  });
  if (!cache_.watches(interest.kind.resource())) cache_.add({interest.kind});
}

void ControllerLoop::add_interest(std::string_view controller, Interest interest) {
  CHECK(started_);
  if (!stopped_ && wanted(controller)) listen(lane(controller), std::move(interest));
}

void ControllerLoop::drop_kind(const Kind& kind) {
  if (!stopped_) cache_.drop(kind.resource());
}

void ControllerLoop::follow_kind(const Kind& kind) {
  if (!stopped_ && cache_.watches(kind.resource())) cache_.follow(kind);
}

void ControllerLoop::enqueue(std::string_view controller, const ObjectKey& key) {
  if (wanted(controller)) lane(controller).add(key);
}

void ControllerLoop::stop() {
  if (std::exchange(stopped_, true)) return;
  *alive_ = false;
  for (const auto& lane : lanes_) lane->stop();
}

ControllerLoop::Lane& ControllerLoop::lane(std::string_view controller) {
  for (const auto& lane : lanes_) {
    if (lane->reconciler().name() == controller) return *lane;
  }
  CHECK_MSG(false, controller);
  return *lanes_.front();
}

std::vector<ControllerCounters> ControllerLoop::counters() const {
  std::vector<ControllerCounters> out;
  for (const auto& lane : lanes_) out.push_back(lane->counters());
  return out;
}

bool ControllerLoop::quiet() const {
  for (const auto& lane : lanes_) {
    if (lane->counters().pending > 0) return false;
  }
  return true;
}

}  // namespace krater::controllers
