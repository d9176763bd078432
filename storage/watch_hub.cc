#include "storage/watch_hub.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace krater::storage {

// Shared by the watch and whoever is about to notify it.
struct WatchState {
  std::function<void()> notify;
  // Held while `notify` runs; recursive, so that a notification may drop its own watch.
  std::recursive_mutex notifying;
  bool dropped = false;  // guarded by `notifying`
  bool armed = false;    // guarded by the hub's mutex: stands in its topic's `waiting`
};

struct WatchHub::Core {
  Core(Revision revision, EventRing::Limits limits, std::shared_ptr<const History> disk)
      : head(revision), ring(limits), history(std::move(disk)) {}

  class Cursor;
  Topic& join(KeyRange range, Revision after);
  void reach_back(Topic& topic, Revision after);

  std::mutex mutex;
  Revision head;  // newest published
  EventRing ring;
  TopicMap topics;
  std::unordered_map<WatchState*, std::shared_ptr<WatchState>>
      armed;  // keeps those in `waiting` alive
  const std::shared_ptr<const History> history;
};

class WatchHub::Core::Cursor final : public Watch {
 public:
  Cursor(std::shared_ptr<Core> core, WatchOptions options)
      : core_(std::move(core)),
        state_(std::make_shared<WatchState>()),
        range_(options.range),
        cursor_(options.after) {
    state_->notify = std::move(options.notify);
    const std::lock_guard lock(core_->mutex);
    topic_ = &core_->join(std::move(options.range), cursor_);
  }

  ~Cursor() override {
    {
      const std::lock_guard lock(core_->mutex);
      std::erase(topic_->waiting, state_.get());
      core_->armed.erase(state_.get());
      if (--topic_->watchers == 0) core_->topics.remove(*topic_);
    }
    const std::lock_guard lock(state_->notifying);  // waits for a notification under way
    state_->dropped = true;
  }

  Result<std::vector<EventPtr>> next(std::size_t limit) override {
    CHECK(limit > 0);
    for (;;) {
      Revision upto;
      {
        const std::lock_guard lock(core_->mutex);
        topic_->trim(core_->ring);
        if (cursor_ >= topic_->known_after) return from_memory(limit);
        upto = core_->head;
      }
      TRY_ASSIGN(History::Events found, core_->history->events(range_, cursor_, upto, limit));
      cursor_ = std::max(cursor_, found.upto);
      if (!found.events.empty()) return std::move(found.events);
    }
  }

  Revision progress() const override {
    const std::lock_guard lock(core_->mutex);
    topic_->trim(core_->ring);
    if (cursor_ < topic_->known_after) return cursor_;
    const auto& revisions = topic_->revisions;
    const auto next = std::upper_bound(revisions.begin(), revisions.end(), cursor_);
    return next == revisions.end() ? std::max(cursor_, core_->head) : Revision(next->number() - 1);
  }

 private:
  // Under the hub's mutex.
  std::vector<EventPtr> from_memory(std::size_t limit) {
    const auto& revisions = topic_->revisions;
    auto at = std::upper_bound(revisions.begin(), revisions.end(), cursor_);
    std::vector<EventPtr> events;
    events.reserve(std::min(limit, static_cast<std::size_t>(revisions.end() - at)));
    for (; at != revisions.end() && events.size() < limit; ++at) {
      events.push_back(core_->ring.at(*at));
    }
    if (at != revisions.end()) {
      cursor_ = events.back()->revision();
      return events;
    }
    cursor_ = std::max(cursor_, core_->head);
    if (events.empty() && state_->notify && core_->armed.emplace(state_.get(), state_).second) {
      topic_->waiting.push_back(state_.get());
    }
    return events;
  }

  const std::shared_ptr<Core> core_;
  const std::shared_ptr<WatchState> state_;
  const KeyRange range_;
  Topic* topic_ = nullptr;
  Revision cursor_;  // everything of the range up to here has been returned
};

// The topic of a range, reaching back to `after` as far as the ring does.
Topic& WatchHub::Core::join(KeyRange range, Revision after) {
  Topic* topic = topics.find(range);
  if (topic == nullptr) {
    topic = &topics.add(std::move(range));
    topic->known_after = head;
  }
  ++topic->watchers;
  reach_back(*topic, after);
  return *topic;
}

void WatchHub::Core::reach_back(Topic& topic, Revision after) {
  topic.trim(ring);
  if (ring.empty()) return;
  const Revision begin = std::max(after.next(), ring.first());
  // From the newest unknown one backwards; what precedes the ring stays unknown.
  for (Revision r = topic.known_after; r >= begin; r = Revision(r.number() - 1)) {
    if (topic.range.contains(ring.at(r)->record->key)) topic.revisions.push_front(r);
  }
  topic.known_after = std::min(topic.known_after, Revision(begin.number() - 1));
}

WatchHub::WatchHub(Revision head, EventRing::Limits limits, std::shared_ptr<const History> history)
    : core_(std::make_shared<Core>(head, limits, std::move(history))) {}

WatchHub::~WatchHub() = default;

void WatchHub::publish(const std::vector<EventPtr>& events) {
  std::vector<std::shared_ptr<WatchState>> woken;
  {
    const std::lock_guard lock(core_->mutex);
    for (const EventPtr& event : events) {
      core_->ring.push(event);
      core_->head = event->revision();
      core_->topics.for_each(event->record->key, [&](Topic& topic) {
        topic.revisions.push_back(event->revision());
        topic.trim(core_->ring);
        for (WatchState* waiter : topic.waiting) {
          auto waking = core_->armed.extract(waiter);
          woken.push_back(std::move(waking.mapped()));
        }
        topic.waiting.clear();
      });
    }
  }
  for (const auto& state : woken) {
    const std::lock_guard lock(state->notifying);
    if (!state->dropped) state->notify();
  }
}

std::unique_ptr<Watch> WatchHub::watch(WatchOptions options) {
  return std::make_unique<Core::Cursor>(core_, std::move(options));
}

}  // namespace krater::storage
