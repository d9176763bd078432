#include "storage/faulty_store.h"

#include <gtest/gtest.h>

#include <map>

#include "storage/testing/medium.h"
#include "storage/testing/store_fixture.h"
#include "testing/manual_loop.h"

namespace krater::storage::testing {
namespace {

std::unique_ptr<Store> memory_store() {
  OpenOptions options;
  options.in_memory = true;
  options.writer_thread = false;
  auto opened = open_rocksdb(options);
  return *std::move(opened);
}

// What a careful client makes of a misbehaving store: it retries refusals, looks again after lost
// answers, and starts its watch over from the last revision it has seen. It must end up knowing
// exactly what the store holds.
class CarefulClient {
 public:
  explicit CarefulClient(Store& store) : store_(store) { rewatch(); }

  void write(const std::string& key, std::optional<std::string> value) {
    for (;;) {
      const RecordPtr now = *store_.snapshot()->get(key);
      const Expect expect = now ? Expect::exactly(now->modified) : Expect::absent();
      if (!value && !now) return;
      const State before = state_of(*store_.snapshot());
      const Answer answer =
          commit(store_, {value ? put_op(key, *value, expect) : delete_op(key, expect)});
      State after = before;
      if (value) after[key] = *value;
      if (!value) after.erase(key);
      if (answer.ok()) {
        EXPECT_EQ(state_of(*store_.snapshot()), after);
        return;
      }
      if (answer.code() == Code::Unavailable) {
        EXPECT_EQ(state_of(*store_.snapshot()), before) << "refused, but written";
        ++refused;
        continue;
      }
      ASSERT_EQ(answer.code(), Code::Timeout);
      ++in_doubt;
      EXPECT_EQ(state_of(*store_.snapshot()), after) << "in doubt means written here";
      return;
    }
  }

  void observe() {
    for (;;) {
      auto events = watch_->next(3);
      if (!events) {
        EXPECT_EQ(events.error().code, Code::Expired);
        ++expired;
        rewatch();
        continue;
      }
      if (events->empty()) return;
      for (const EventPtr& event : *events) {
        EXPECT_EQ(event->revision(), seen_.next());
        seen_ = event->revision();
        if (event->what == Event::What::Put) known[event->record->key] = *event->record->value;
        if (event->what == Event::What::Delete) known.erase(event->record->key);
      }
    }
  }

  State known;
  int refused = 0, in_doubt = 0, expired = 0;

 private:
  void rewatch() { watch_ = *store_.watch({{}, seen_}); }
  Store& store_;
  std::unique_ptr<Watch> watch_;
  Revision seen_;
};

TEST(FaultyStore, ACarefulClientLearnsTheTruth) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRng rng(seed);
    Faults faults;
    faults.fail_before = 150;
    faults.fail_after = 150;
    faults.expire_watch = 100;
    FaultyStore store(memory_store(), rng, faults);
    State oracle;
    CarefulClient client(store);
    for (int step = 0; step < 500; ++step) {
      const std::string key = "k" + std::to_string(rng.below(20));
      if (rng.below(4) == 0) {
        client.write(key, std::nullopt);
        oracle.erase(key);
      } else {
        client.write(key, std::to_string(step));
        oracle[key] = std::to_string(step);
      }
      if (rng.below(5) == 0) client.observe();
    }
    client.observe();
    EXPECT_EQ(state_of(*store.snapshot()), oracle);
    EXPECT_EQ(client.known, oracle);
    EXPECT_GT(client.refused, 0);
    EXPECT_GT(client.in_doubt, 0);
    EXPECT_GT(client.expired, 0);
  }
}

TEST(FaultyStore, TheSameSeedMisbehavesTheSameWay) {
  const auto story = [](std::uint64_t seed) {
    SeededRng rng(seed);
    Faults faults;
    faults.fail_before = faults.fail_after = 300;
    FaultyStore store(memory_store(), rng, faults);
    std::string told;
    for (int i = 0; i < 100; ++i) {
      const Answer answer = commit(store, {put_op("k", std::to_string(i))});
      told += answer.ok() ? 'o' : answer.code() == Code::Timeout ? 't' : 'u';
    }
    return told;
  };
  EXPECT_EQ(story(5), story(5));
  EXPECT_NE(story(5), story(6));
}

TEST(FaultyStore, ADelayedAnswerComesOnTheLoopAfterItsTime) {
  krater::testing::ManualLoop loop;
  SeededRng rng(1);
  Faults faults;
  faults.delay = 1000;
  faults.delay_max = 10ms;
  FaultyStore store(memory_store(), rng, faults, &loop);
  int answered = 0;
  for (int i = 0; i < 20; ++i) {
    store.commit({{put_op("k" + std::to_string(i), "x")}},
                 [&answered](std::optional<CommitFailure> failure, Committed committed) {
                   EXPECT_FALSE(failure);
                   EXPECT_EQ(committed.records.size(), 1U);
                   ++answered;
                 });
  }
  EXPECT_EQ(store.revision(), Revision(20)) << "written at once";
  loop.run_ready();
  EXPECT_LT(answered, 20);
  loop.advance(10ms);
  EXPECT_EQ(answered, 20);
}

}  // namespace
}  // namespace krater::storage::testing
