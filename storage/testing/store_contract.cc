#include "storage/testing/store_contract.h"

#include <atomic>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/env.h"

namespace krater::storage::testing {

Store& StoreContract::open(OpenOptions tuning) {
  store_.reset();
  auto opened = medium_->open(std::move(tuning));
  if (!opened) throw std::runtime_error(opened.error().message);
  store_ = *std::move(opened);
  return *store_;
}

void StoreContract::start_over() {
  store_.reset();
  medium_ = GetParam().make();
}

OpenOptions StoreContract::forgetful() {
  OpenOptions tuning;
  tuning.recent_events = 2;
  tuning.recent_snapshots = 1;
  return tuning;
}

// --- writes
// --------------------------------------------------------------------------------------------------

TEST_P(StoreContract, ANewStoreIsEmptyAtRevisionZero) {
  EXPECT_EQ(store().revision(), Revision(0));
  EXPECT_EQ(store().compacted(), Revision(0));
  EXPECT_TRUE(state_of(*store().snapshot()).empty());
  EXPECT_FALSE(store().failure());
}

TEST_P(StoreContract, EveryWriteTakesOneRevision) {
  EXPECT_EQ(put(store(), "a", "1"), Revision(1));
  const Answer answer = commit(store(), {put_op("b", "2"), check_op("a", Expect::present()),
                                         put_op("c", "3"), delete_op("a")});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.committed.revision, Revision(4));
  ASSERT_EQ(answer.committed.records.size(), 4U);
  EXPECT_EQ(answer.committed.records[0]->modified, Revision(2));
  EXPECT_EQ(answer.committed.records[1], nullptr);
  EXPECT_EQ(answer.committed.records[2]->modified, Revision(3));
  EXPECT_EQ(answer.committed.records[3]->modified, Revision(4));
  EXPECT_EQ(*answer.committed.records[3]->value, "1");
  EXPECT_EQ(state_of(*store().snapshot()), (State{{"b", "2"}, {"c", "3"}}));
}

TEST_P(StoreContract, AnUpdateKeepsTheRevisionOfCreationAndARecreationDoesNot) {
  put(store(), "a", "1");
  put(store(), "a", "2");
  RecordPtr record = *store().snapshot()->get("a");
  EXPECT_EQ(record->created, Revision(1));
  EXPECT_EQ(record->modified, Revision(2));
  remove(store(), "a");
  put(store(), "a", "3");
  record = *store().snapshot()->get("a");
  EXPECT_EQ(record->created, Revision(4));
}

TEST_P(StoreContract, AWriteNeedsItsPrecondition) {
  put(store(), "old", "1");
  put(store(), "old", "2");  // modified at 2
  struct Case {
    Op op;
    std::optional<Code> fails;
  };
  const std::vector<Case> cases{
      {put_op("new", "x", Expect::present()), Code::NotFound},
      {put_op("new", "x", Expect::exactly(Revision(1))), Code::NotFound},
      {put_op("old", "x", Expect::absent()), Code::AlreadyExists},
      {put_op("old", "x", Expect::exactly(Revision(1))), Code::Conflict},
      {put_op("old", "x", Expect::exactly(Revision(3))), Code::Conflict},
      {delete_op("new"), Code::NotFound},
      {delete_op("new", Expect::absent()), Code::NotFound},
      {delete_op("old", Expect::absent()), Code::AlreadyExists},
      {delete_op("old", Expect::exactly(Revision(1))), Code::Conflict},
      {check_op("new", Expect::present()), Code::NotFound},
      {check_op("old", Expect::absent()), Code::AlreadyExists},
      {check_op("old", Expect::exactly(Revision(1))), Code::Conflict},
      {check_op("old", Expect::exactly(Revision(2))), std::nullopt},
      {check_op("new", Expect::absent()), std::nullopt},
      {put_op("old", "3", Expect::exactly(Revision(2))), std::nullopt},
      {put_op("new", "4", Expect::absent()), std::nullopt},
      {delete_op("new", Expect::exactly(Revision(4))), std::nullopt},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Answer answer = commit(store(), {cases[i].op});
    ASSERT_EQ(answer.ok(), !cases[i].fails) << "case " << i;
    if (answer.ok()) continue;
    EXPECT_EQ(answer.code(), *cases[i].fails) << "case " << i;
    const bool stands = cases[i].op.key == "old";
    ASSERT_EQ(answer.failure->current != nullptr, stands) << "case " << i;
    if (stands) {
      EXPECT_EQ(answer.failure->current->modified, Revision(2));
    }
  }
  EXPECT_EQ(store().revision(), Revision(5));
}

TEST_P(StoreContract, AFailedTransactionWritesNothing) {
  put(store(), "a", "1");
  const Answer answer =
      commit(store(), {put_op("b", "2"), put_op("a", "3"), put_op("a2", "3", Expect::present())});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure->op, 2U);
  EXPECT_EQ(state_of(*store().snapshot()), (State{{"a", "1"}}));
  EXPECT_EQ(put(store(), "c", "4"), Revision(2)) << "a failed transaction takes no revision";
}

TEST_P(StoreContract, ATransactionOfChecksAnswersTheCurrentRevision) {
  put(store(), "a", "1");
  const Answer answer = commit(store(), {check_op("a", Expect::exactly(Revision(1)))});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.committed.revision, Revision(1));
  EXPECT_EQ(commit(store(), {}).committed.revision, Revision(1));
}

TEST_P(StoreContract, MalformedWritesAreInvalid) {
  Op beyond = put_op("a", "12");
  beyond.revision_at = 3;
  const std::vector<std::vector<Op>> malformed{
      {put_op("", "x")},
      {put_op(std::string("a\0b", 3), "x")},
      {check_op(std::string("\0", 1), Expect::absent())},
      {beyond},
      {put_op("a", "1"), put_op("a", "2")},
      {put_op("a", "1"), delete_op("a")},
  };
  for (const auto& ops : malformed) {
    const Answer answer = commit(store(), ops);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.code(), Code::Invalid);
  }
  EXPECT_EQ(store().revision(), Revision(0));
}

TEST_P(StoreContract, TheRevisionIsWrittenIntoTheValue) {
  Op op = put_op("a", R"({"rv":""})");
  op.revision_at = 7;
  Op gone = delete_op("b", Expect::any(), R"({"rv":"","last":1})");
  gone.revision_at = 7;
  put(store(), "b", "old");
  ASSERT_TRUE(commit(store(), {op, gone}).ok());
  EXPECT_EQ(*(*store().snapshot()->get("a"))->value, R"({"rv":"2"})");
  auto watch = *store().watch({{}, Revision(2)});
  EXPECT_EQ(texts(drain(*watch)),
            (std::vector<std::string>{R"(delete b={"rv":"3","last":1} @3 was old@1)"}));
}

TEST_P(StoreContract, AValueIsHeldWithoutRoomToGrow) {
  Op op = put_op("a", R"({"rv":"","text":")" + std::string(2000, 'x') + "\"}");
  op.value.reserve(8000);
  op.revision_at = 7;
  Op plain = put_op("b", std::string(2000, 'y'));
  plain.value.reserve(8000);
  ASSERT_TRUE(commit(store(), {op, plain}).ok());
  for (const char* key : {"a", "b"}) {
    const RecordPtr record = *store().snapshot()->get(key);
    EXPECT_EQ(record->value->capacity(), record->value->size()) << key;
  }
}

TEST_P(StoreContract, ValuesAreBytes) {
  const std::string bytes("\0\xff\r\n\0x", 6);
  put(store(), "empty", "");
  put(store(), "bytes", bytes);
  put(store(), "\x01\xff/key", std::string(3U << 20, 'x'));
  Store& again = open();
  EXPECT_EQ(*(*again.snapshot()->get("empty"))->value, "");
  EXPECT_EQ(*(*again.snapshot()->get("bytes"))->value, bytes);
  EXPECT_EQ((*again.snapshot()->get("\x01\xff/key"))->value->size(), 3U << 20);
}

TEST_P(StoreContract, RelaxedWritesAreVisibleWhenAnswered) {
  ASSERT_TRUE(commit(store(), {put_op("lease", "1")}, Durability::Relaxed).ok());
  EXPECT_EQ(state_of(*store().snapshot()), (State{{"lease", "1"}}));
}

TEST_P(StoreContract, AStoppedStoreRefusesWritesAndStillReads) {
  put(store(), "a", "1");
  store().stop();
  store().stop();
  const Answer answer = commit(store(), {put_op("a", "2")});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), Code::Unavailable);
  EXPECT_EQ(state_of(*store().snapshot()), (State{{"a", "1"}}));
}

TEST_P(StoreContract, AFullQueueIsSaidAtOnce) {
  OpenOptions tuning;
  tuning.queue_transactions = 2;
  open(tuning);
  std::promise<void> reached, go_on;
  store().commit({{put_op("a", "1")}}, [&](std::optional<CommitFailure>, Committed) {
    reached.set_value();
    go_on.get_future().wait();
  });
  reached.get_future().wait();  // the writer is busy: what comes now waits
  std::atomic<int> accepted = 0, refused = 0;
  for (int i = 0; i < 5; ++i) {
    store().commit({{put_op("b", "1")}}, [&](std::optional<CommitFailure> failure, Committed) {
      EXPECT_TRUE(!failure || failure->error.code == Code::TooManyRequests);
      ++(failure ? refused : accepted);
    });
  }
  EXPECT_EQ(refused, 3);
  go_on.set_value();
  store().stop();
  EXPECT_EQ(accepted, 2);
}

TEST_P(StoreContract, ConcurrentIncrementsLoseNothing) {
  constexpr int kThreads = 8, kIncrements = 25;
  Store& shared = store();
  put(shared, "n", "0");
  auto watch = *shared.watch({{}, Revision(1)});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < kIncrements;) {
        const RecordPtr now = *shared.snapshot()->get("n");
        const Answer answer =
            commit(shared, {put_op("n", std::to_string(std::stoi(*now->value) + 1),
                                   Expect::exactly(now->modified))});
        if (answer.ok()) ++i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*(*shared.snapshot()->get("n"))->value, std::to_string(kThreads * kIncrements));
  const auto events = drain(*watch, 7);
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kThreads * kIncrements));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(*events[i]->record->value, std::to_string(i + 1));
    EXPECT_EQ(events[i]->revision(), Revision(static_cast<std::int64_t>(i) + 2));
  }
}

// --- reads
// ---------------------------------------------------------------------------------------------------

TEST_P(StoreContract, ASnapshotStaysAtItsRevision) {
  put(store(), "a", "1");
  const SnapshotPtr before = store().snapshot();
  put(store(), "a", "2");
  put(store(), "b", "3");
  remove(store(), "a");
  EXPECT_EQ(before->revision(), Revision(1));
  EXPECT_EQ(state_of(*before), (State{{"a", "1"}}));
  EXPECT_EQ(state_of(*store().snapshot()), (State{{"b", "3"}}));
}

TEST_P(StoreContract, ScanAndCountRespectRangeAndStart) {
  for (const char* key : {"a", "a!", "ab", "b/1", "b/2", "b/3", "b0", "c"}) put(store(), key, key);
  put(store(), "b/4", "x");
  remove(store(), "b/4");
  put(store(), "z", "x");  // so that the revision below is history
  open(forgetful());
  const Revision past(store().revision().number() - 1);
  put(store(), "zz", "x");
  for (const SnapshotPtr& at : {store().snapshot(), *store().snapshot_at(past)}) {
    const auto keys = [&](const KeyRange& range, std::optional<std::string_view> after,
                          std::size_t limit) {
      std::string out;
      std::size_t n = 0;
      EXPECT_TRUE(at->scan(range, after, [&](const RecordPtr& record) {
        out += record->key + " ";
        return ++n < limit;
      }));
      if (limit == 100) {
        EXPECT_EQ(*at->count(range, after), n) << out;
      }
      return out;
    };
    EXPECT_EQ(keys(KeyRange::prefix("b/"), std::nullopt, 100), "b/1 b/2 b/3 ");
    EXPECT_EQ(keys(KeyRange::prefix("b/"), "b/1", 100), "b/2 b/3 ");
    EXPECT_EQ(keys(KeyRange::prefix("b/"), "b/11", 100), "b/2 b/3 ");
    EXPECT_EQ(keys(KeyRange::prefix("b/"), "b/3", 100), "");
    EXPECT_EQ(keys(KeyRange::prefix("b/"), "a", 100), "b/1 b/2 b/3 ");
    EXPECT_EQ(keys(KeyRange::prefix("b/"), std::nullopt, 2), "b/1 b/2 ");
    EXPECT_EQ(keys({"a", "b"}, std::nullopt, 100), "a a! ab ");
    EXPECT_EQ(keys({"a", "b"}, "a", 100), "a! ab ");
    EXPECT_EQ(keys({"b0", "c"}, std::nullopt, 100), "b0 ");
    EXPECT_EQ(keys({"q", "r"}, std::nullopt, 100), "");
    EXPECT_EQ(*at->get("b/4"), nullptr);
    EXPECT_EQ(*at->get("b/"), nullptr);
    EXPECT_EQ((*at->get("a"))->key, "a");
  }
}

TEST_P(StoreContract, ARevisionThatHasNotHappenedIsInvalid) {
  put(store(), "a", "1");
  EXPECT_EQ(store().snapshot_at(Revision(2)).error().code, Code::Invalid);
  EXPECT_EQ(store().watch({{}, Revision(2)}).error().code, Code::Invalid);
  EXPECT_EQ(store().compact(Revision(2)).error().code, Code::Invalid);
}

// --- watches
// -------------------------------------------------------------------------------------------------

TEST_P(StoreContract, AWatchTellsWhatHappenedWithTheVersionBefore) {
  put(store(), "a", "1");
  put(store(), "a", "2");
  remove(store(), "a");
  put(store(), "a", "3");
  const std::vector<std::string> want{"put a=1 @1", "put a=2 @2 was 1@1", "delete a=2 @3 was 2@2",
                                      "put a=3 @4"};
  auto watch = *store().watch({{}, Revision(0)});
  EXPECT_EQ(texts(drain(*watch)), want);
  watch.reset();
  open(forgetful());  // now from the disk
  watch = *store().watch({{}, Revision(0)});
  EXPECT_EQ(texts(drain(*watch)), want);
  watch = *store().watch({{}, Revision(2)});
  EXPECT_EQ(texts(drain(*watch)), (std::vector<std::string>{want[2], want[3]}));
  watch.reset();
}

TEST_P(StoreContract, AWatchOfARangeSeesNothingElse) {
  const std::vector<std::pair<KeyRange, std::string>> ranges{
      {KeyRange::prefix("b/"), "b/ b/1 b/2 "},
      {{"b/1", std::string("b/1\0", 4)}, "b/1 "},
      {{"a", "b/1"}, "a b/ "},
      {{"b/2", ""}, "b/2 b0 c "},
      {KeyRange::prefix(""), "a b/ b/1 b/2 b0 c "}};
  std::vector<std::unique_ptr<Watch>> watches;
  for (const auto& [range, keys] : ranges) watches.push_back(*store().watch({range, Revision(0)}));
  for (const char* key : {"a", "b/", "b/1", "b/2", "b0", "c"}) put(store(), key, "x");
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    std::string seen;
    for (const EventPtr& event : drain(*watches[i])) seen += event->record->key + " ";
    EXPECT_EQ(seen, ranges[i].second) << "range " << i;
    EXPECT_EQ(watches[i]->progress(), Revision(6));
  }
}

TEST_P(StoreContract, ASlowWatchResumesFromTheLogWithoutGapOrRepeat) {
  open(forgetful());
  auto slow = *store().watch({KeyRange::prefix("k"), Revision(0)});
  std::vector<std::string> want, seen;
  for (int i = 0; i < 40; ++i) {
    const std::string key = i % 3 == 0 ? "other" : "k" + std::to_string(i % 5);
    put(store(), key, std::to_string(i));
    if (key != "other") want.push_back(std::to_string(i));
    if (i % 10 == 9) {  // reads one now and then, far behind the ring of two
      const std::vector<EventPtr> one = *slow->next(1);
      for (const EventPtr& event : one) seen.push_back(*event->record->value);
    }
  }
  for (const EventPtr& event : drain(*slow, 3)) seen.push_back(*event->record->value);
  EXPECT_EQ(seen, want);
}

TEST_P(StoreContract, AWaitingWatchIsNotifiedOnce) {
  std::atomic<int> notified = 0;
  auto watch = *store().watch({KeyRange::prefix("k"), Revision(0), [&notified] { ++notified; }});
  put(store(), "k", "0");
  EXPECT_EQ(notified, 0) << "nobody has asked yet";
  EXPECT_EQ(drain(*watch).size(), 1U);
  put(store(), "other", "1");
  EXPECT_EQ(notified, 0) << "not of its range";
  put(store(), "k", "2");
  put(store(), "k", "3");
  EXPECT_EQ(notified, 1) << "once each empty next()";
  EXPECT_EQ(drain(*watch).size(), 2U);
  EXPECT_EQ(drain(*watch).size(), 0U);
  watch.reset();
  put(store(), "k", "4");
  EXPECT_EQ(notified, 1) << "dropped";
}

TEST_P(StoreContract, ProgressIsWhatABookmarkMayClaim) {
  auto watch = *store().watch({KeyRange::prefix("k"), Revision(0)});
  put(store(), "other", "1");
  EXPECT_EQ(watch->progress(), Revision(1)) << "nothing of the range is outstanding";
  put(store(), "k1", "2");
  put(store(), "k2", "3");
  EXPECT_EQ(watch->progress(), Revision(1));
  ASSERT_EQ(watch->next(1)->size(), 1U);
  EXPECT_EQ(watch->progress(), Revision(2));
  ASSERT_EQ(watch->next(1)->size(), 1U);
  put(store(), "other", "4");
  EXPECT_EQ(watch->progress(), Revision(4));
}

TEST_P(StoreContract, AWatchFollowsConcurrentWriters) {
  constexpr int kThreads = 4, kWrites = 50;
  OpenOptions tuning;
  tuning.recent_events = 16;  // the reader falls off the ring and back on
  open(tuning);
  std::atomic<bool> woken = false;
  auto watch = *store().watch({KeyRange::prefix("k"), Revision(0), [&woken] {
                                 woken = true;
                                 woken.notify_one();
                               }});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kWrites; ++i) {
        put(store(), (i % 2 ? "k" : "x") + std::to_string(t), std::to_string(i));
      }
    });
  }
  std::vector<EventPtr> seen;
  Revision last;
  while (seen.size() < kThreads * kWrites / 2) {
    const auto events = *watch->next(5);
    for (const EventPtr& event : events) {
      EXPECT_GT(event->revision(), last);
      last = event->revision();
      EXPECT_GE(store().revision(), last) << "readers see what watchers are told";
    }
    seen.insert(seen.end(), events.begin(), events.end());
    if (events.empty()) {
      woken.wait(false);
      woken = false;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kThreads * kWrites / 2));
  EXPECT_TRUE(drain(*watch).empty());
}

// --- compaction
// ----------------------------------------------------------------------------------------------

TEST_P(StoreContract, CompactionForgetsThePastAndKeepsThePresent) {
  open(forgetful());
  put(store(), "a", "1");
  put(store(), "a", "2");
  put(store(), "b", "3");
  remove(store(), "b");
  put(store(), "a", "5");
  ASSERT_TRUE(store().compact(Revision(4)));
  EXPECT_EQ(store().compacted(), Revision(4));
  for (int reopened = 0; reopened < 2; ++reopened) {
    EXPECT_EQ(store().snapshot_at(Revision(3)).error().code, Code::Expired);
    EXPECT_EQ(store().watch({{}, Revision(3)}).error().code, Code::Expired);
    EXPECT_EQ(store().compact(Revision(3)).error().code, Code::Expired);
    EXPECT_EQ(state_of(**store().snapshot_at(Revision(4))), (State{{"a", "2"}}));
    EXPECT_EQ(state_of(*store().snapshot()), (State{{"a", "5"}}));
    {
      auto watch = *store().watch({{}, Revision(4)});
      EXPECT_EQ(texts(drain(*watch)), (std::vector<std::string>{"put a=5 @5 was 2@2"}));
    }
    open(forgetful());
  }
  ASSERT_TRUE(store().compact(Revision(5)));
  EXPECT_EQ(put(open(), "c", "6"), Revision(6)) << "an empty log remembers its revision";
}

TEST_P(StoreContract, ASnapshotTakenBeforeCompactionStaysWhole) {
  open(forgetful());
  put(store(), "a", "1");
  put(store(), "b", "2");
  put(store(), "a", "3");
  remove(store(), "b");
  put(store(), "c", "5");
  const SnapshotPtr past = *store().snapshot_at(Revision(2));
  ASSERT_TRUE(store().compact(Revision(5)));
  EXPECT_EQ(state_of(*past), (State{{"a", "1"}, {"b", "2"}}));
}

TEST_P(StoreContract, CompactionEndsOnlyWatchesThatMissedSomething) {
  open(forgetful());
  auto behind = *store().watch({KeyRange::prefix("k"), Revision(0)});
  auto quiet = *store().watch({KeyRange::prefix("q"), Revision(0)});
  for (int i = 0; i < 10; ++i) put(store(), "k", std::to_string(i));
  ASSERT_TRUE(store().compact(Revision(9)));
  EXPECT_EQ(behind->next(10).error().code, Code::Expired);
  EXPECT_TRUE(drain(*quiet).empty());
  EXPECT_EQ(quiet->progress(), Revision(10));
  put(store(), "q", "x");
  EXPECT_EQ(drain(*quiet).size(), 1U);
}

TEST_P(StoreContract, CompactionReleasesManyVersionsWhileWritesGoOn) {
  constexpr int kWrites = 3000;
  open(forgetful());
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_TRUE(commit(store(), {put_op("k" + std::to_string(i % 50), std::to_string(i))},
                       Durability::Relaxed)
                    .ok());
  }
  std::thread writer([this] {
    for (int i = 0; i < 100; ++i) put(store(), "w" + std::to_string(i), "x");
  });
  EXPECT_TRUE(store().compact(Revision(kWrites)));
  writer.join();
  EXPECT_EQ(state_of(*store().snapshot(), KeyRange::prefix("k")).size(), 50U);
  EXPECT_EQ(state_of(**store().snapshot_at(Revision(kWrites))).size(), 50U);
}

// --- restarts
// ------------------------------------------------------------------------------------------------

TEST_P(StoreContract, ARestartChangesNothing) {
  put(store(), "a", "1");
  put(store(), "b", "2");
  put(store(), "a", "3");
  remove(store(), "b");
  Store& again = open();
  EXPECT_EQ(again.revision(), Revision(4));
  EXPECT_EQ(state_of(*again.snapshot()), (State{{"a", "3"}}));
  const RecordPtr a = *again.snapshot()->get("a");
  EXPECT_EQ(a->created, Revision(1));
  EXPECT_EQ(a->modified, Revision(3));
  EXPECT_EQ(state_of(**again.snapshot_at(Revision(2))), (State{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(put(again, "c", "5"), Revision(5));
}

TEST_P(StoreContract, VersionsAreDecodedWhenPublishedAndWhenLoaded) {
  OpenOptions tuning = forgetful();
  tuning.decode = [](std::string_view key, const Bytes& value, Revision, Revision modified) {
    return std::make_shared<const std::string>(std::string(key) + *value + modified.text());
  };
  const auto decoded = [](const RecordPtr& record) {
    return *std::static_pointer_cast<const std::string>(record->decoded);
  };
  open(tuning);
  EXPECT_EQ(decoded(commit(store(), {put_op("a", "x")}).committed.records[0]), "ax1");
  open(tuning);
  EXPECT_EQ(decoded(*store().snapshot()->get("a")), "ax1");
  put(store(), "a", "y");
  EXPECT_EQ(decoded(*(*store().snapshot_at(Revision(1)))->get("a")), "ax1");
}

// Random stories, told to the store and to a list of std::maps; every state and every event must
// agree.
TEST_P(StoreContract, AgreesWithAnOracle) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRng rng(seed);
    start_over();
    OpenOptions tuning = forgetful();
    tuning.recent_events = 8;
    open(tuning);
    std::vector<State> states{{}};  // by revision
    std::vector<std::string> log{""};
    Revision compacted;
    std::size_t watched = 0;
    auto watch = *store().watch({KeyRange::prefix("k"), Revision(0)});
    const auto observe = [&] {
      for (const EventPtr& event : drain(*watch, 1 + rng.below(4))) {
        ASSERT_LT(watched, log.size() - 1);
        EXPECT_EQ(event->revision().number(), static_cast<std::int64_t>(++watched));
        EXPECT_EQ(event->record->key, log[watched]);
      }
    };
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t dice = rng.below(100);
      if (dice < 80) {
        std::vector<Op> ops;
        std::set<std::string> keys;
        State next = states.back();
        std::vector<State> after;
        std::vector<std::string> written;
        for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
          const std::string key = "k" + std::to_string(rng.below(30));
          if (!keys.insert(key).second) continue;
          const std::string value = std::to_string(rng.below(1000));
          if (next.count(key) && rng.below(3) == 0) {
            ops.push_back(delete_op(key, Expect::present()));
            next.erase(key);
          } else {
            ops.push_back(
                put_op(key, value, next.count(key) ? Expect::present() : Expect::absent()));
            next[key] = value;
          }
          after.push_back(next);
          written.push_back(key);
        }
        const Answer answer = commit(store(), std::move(ops));
        ASSERT_TRUE(answer.ok());
        states.insert(states.end(), after.begin(), after.end());
        log.insert(log.end(), written.begin(), written.end());
        ASSERT_EQ(answer.committed.revision.number(), static_cast<std::int64_t>(states.size()) - 1);
      } else if (dice < 90) {
        const auto span =
            static_cast<std::uint64_t>(store().revision().number() - compacted.number() + 1);
        const Revision at(compacted.number() + static_cast<std::int64_t>(rng.below(span)));
        EXPECT_EQ(state_of(**store().snapshot_at(at)),
                  states[static_cast<std::size_t>(at.number())]);
      } else if (dice < 95) {
        observe();
      } else if (dice < 98) {
        observe();
        const auto span =
            static_cast<std::uint64_t>(store().revision().number() - compacted.number() + 1);
        compacted = Revision(compacted.number() + static_cast<std::int64_t>(rng.below(span)));
        ASSERT_TRUE(store().compact(compacted));
      } else {
        observe();
        watch.reset();
        open(tuning);
        EXPECT_EQ(store().compacted(), compacted);
        watch =
            *store().watch({KeyRange::prefix("k"), Revision(static_cast<std::int64_t>(watched))});
      }
      EXPECT_EQ(state_of(*store().snapshot()), states.back());
    }
    observe();
    EXPECT_EQ(watched, log.size() - 1);
  }
}

}  // namespace krater::storage::testing
