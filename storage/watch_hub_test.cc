#include "storage/watch_hub.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/env.h"

namespace krater::storage {
namespace {

// The log on disk, as a list. It remembers how often it was asked.
class ListHistory final : public History {
 public:
  Result<Events> events(const KeyRange& range, Revision after, Revision upto,
                        std::size_t limit) const override {
    const std::lock_guard lock(mutex);
    ++reads;
    if (after < compacted) return make_error(Code::Expired, "gone");
    Events found{{}, upto};
    for (const EventPtr& event : all) {
      if (event->revision() <= after || event->revision() > upto) continue;
      if (!range.contains(event->record->key)) continue;
      if (found.events.size() == limit) {
        found.upto = found.events.back()->revision();
        break;
      }
      found.events.push_back(event);
    }
    return found;
  }
  void append(EventPtr event) {
    const std::lock_guard lock(mutex);
    all.push_back(std::move(event));
  }
  mutable std::mutex mutex;
  std::vector<EventPtr> all;
  Revision compacted;
  mutable int reads = 0;
};

class WatchHubTest : public ::testing::Test {
 protected:
  void publish(const std::string& key) {
    head_ = head_.next();
    auto record = std::make_shared<const Record>(
        Record{key, std::make_shared<const std::string>("v"), head_, head_, nullptr});
    auto event = std::make_shared<const Event>(Event{Event::What::Put, record, nullptr});
    history_->append(event);
    hub_.publish({event});
  }
  std::unique_ptr<Watch> watch(KeyRange range, std::int64_t after = 0,
                               std::function<void()> notify = {}) {
    return hub_.watch({std::move(range), Revision(after), std::move(notify)});
  }
  static std::string drain(Watch& watch, std::size_t limit = 100) {
    std::string out;
    for (;;) {
      auto events = *watch.next(limit);
      if (events.empty()) return out;
      for (const EventPtr& event : events)
        out += event->record->key + event->revision().text() + " ";
    }
  }

  Revision head_;
  std::shared_ptr<ListHistory> history_ = std::make_shared<ListHistory>();
  WatchHub hub_{Revision(0), {4, 1U << 20}, history_};
};

TEST_F(WatchHubTest, ACaughtUpWatcherNeverReadsTheDisk) {
  auto all = watch({});
  for (int i = 0; i < 20; ++i) {
    publish("k");
    EXPECT_EQ(drain(*all), "k" + std::to_string(i + 1) + " ");
  }
  EXPECT_EQ(history_->reads, 0);
}

TEST_F(WatchHubTest, AWatcherOfAQuietRangeStaysInMemoryHoweverFastTheRestMoves) {
  auto quiet = watch(KeyRange::prefix("q"));
  publish("q");
  EXPECT_EQ(drain(*quiet), "q1 ");
  for (int i = 0; i < 50; ++i) publish("k");
  history_->compacted = Revision(50);
  EXPECT_EQ(drain(*quiet), "");
  EXPECT_EQ(quiet->progress(), Revision(51));
  publish("q");
  EXPECT_EQ(drain(*quiet), "q52 ");
  EXPECT_EQ(history_->reads, 0);
}

TEST_F(WatchHubTest, AWatcherThatFellBehindReadsTheDiskAndThenMemoryAgain) {
  auto slow = watch(KeyRange::prefix("k"));
  for (int i = 0; i < 6; ++i) publish("k");
  EXPECT_EQ(drain(*slow, 2), "k1 k2 k3 k4 k5 k6 ");
  const int reads = history_->reads;
  EXPECT_GT(reads, 0);
  publish("k");
  EXPECT_EQ(drain(*slow), "k7 ");
  EXPECT_EQ(history_->reads, reads);
}

TEST_F(WatchHubTest, ALateWatcherOfAKnownRangeReachesBackAsFarAsTheRing) {
  publish("k");
  auto first = watch(KeyRange::prefix("k"), 1);
  for (const char* key : {"x", "k", "x", "k"}) publish(key);
  auto late = watch(KeyRange::prefix("k"), 1);
  EXPECT_EQ(drain(*late), "k3 k5 ");
  EXPECT_EQ(drain(*first), "k3 k5 ");
  EXPECT_EQ(history_->reads, 0);
  auto older = watch(KeyRange::prefix("k"), 0);
  EXPECT_EQ(drain(*older), "k1 k3 k5 ");
  EXPECT_GT(history_->reads, 0);
}

TEST_F(WatchHubTest, AWatchMayBeginAtARevisionThatReadersAlreadySee) {
  auto early = watch({}, 2);  // snapshots are published before events
  publish("a");
  publish("b");
  EXPECT_EQ(drain(*early), "");
  publish("c");
  EXPECT_EQ(drain(*early), "c3 ");
}

TEST_F(WatchHubTest, ANotificationMayDropItsOwnWatch) {
  std::unique_ptr<Watch> own;
  int notified = 0;
  own = watch({}, 0, [&] {
    ++notified;
    own.reset();
  });
  EXPECT_EQ(drain(*own), "");
  publish("a");
  publish("b");
  EXPECT_EQ(notified, 1);
}

// Every mix of ranges and speeds: each watcher sees exactly the events of its range, in order,
// once.
TEST_F(WatchHubTest, AgreesWithTheListWhateverTheOrderOfThings) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SeededRng rng(seed);
    const std::vector<KeyRange> ranges{KeyRange::prefix(""),    KeyRange::prefix("a"),
                                       KeyRange::prefix("a/1"), {"a/1", std::string("a/1\0", 4)},
                                       {"a/1", "b/2"},          {"b", ""}};
    struct Watcher {
      KeyRange range;
      Revision after;
      std::unique_ptr<Watch> watch;
      std::vector<Revision> seen;
    };
    std::vector<Watcher> watchers;
    const auto check = [&](Watcher& w) {
      for (;;) {
        auto events = *w.watch->next(1 + rng.below(5));
        if (events.empty()) break;
        for (const EventPtr& event : events) w.seen.push_back(event->revision());
      }
      std::vector<Revision> want;
      for (const EventPtr& event : history_->all) {
        if (event->revision() > w.after && w.range.contains(event->record->key))
          want.push_back(event->revision());
      }
      ASSERT_EQ(w.seen, want) << "seed " << seed;
      EXPECT_EQ(w.watch->progress(), head_);
    };
    for (int step = 0; step < 500; ++step) {
      const std::uint64_t dice = rng.below(100);
      if (dice < 60) {
        publish(std::string(1, "abc"[rng.below(3)]) + "/" + std::to_string(rng.below(4)));
      } else if (dice < 70) {
        Watcher w{ranges[rng.below(ranges.size())],
                  Revision(static_cast<std::int64_t>(
                      rng.below(static_cast<std::uint64_t>(head_.number()) + 1))),
                  nullptr,
                  {}};
        w.watch = watch(w.range, w.after.number());
        watchers.push_back(std::move(w));
      } else if (dice < 78 && !watchers.empty()) {
        watchers.erase(watchers.begin() + static_cast<std::ptrdiff_t>(rng.below(watchers.size())));
      } else if (!watchers.empty()) {
        Watcher& w = watchers[rng.below(watchers.size())];
        if (dice < 90) {
          const auto some = *w.watch->next(1);
          for (const EventPtr& event : some) w.seen.push_back(event->revision());
        } else {
          check(w);
        }
      }
    }
    for (Watcher& w : watchers) check(w);
  }
}

// The race that matters: drop while the writer notifies. After the destructor no notification may
// run.
TEST_F(WatchHubTest, ADroppedWatchIsNeverNotified) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) publish("k");
  });
  for (int i = 0; i < 300; ++i) {
    auto alive = std::make_shared<std::atomic<bool>>(true);
    auto dropped = watch({}, 0, [alive] { EXPECT_TRUE(*alive); });
    for (int tries = 0; tries < 100 && !dropped->next(1000)->empty();) ++tries;
    dropped.reset();
    *alive = false;
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace krater::storage
