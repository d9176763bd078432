#include "storage/index.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/env.h"

namespace krater::storage {
namespace {

using Oracle = std::map<std::string, std::int64_t>;

RecordPtr record(const std::string& key, std::int64_t revision) {
  return std::make_shared<const Record>(
      Record{key, std::make_shared<const std::string>(), Revision(1), Revision(revision), nullptr});
}

Oracle contents(const Index& index) {
  Oracle all;
  index.scan({}, std::nullopt, [&all](const RecordPtr& r) {
    EXPECT_TRUE(all.empty() || all.rbegin()->first < r->key);
    all.emplace(r->key, r->modified.number());
    return true;
  });
  return all;
}

TEST(Index, AnEmptyOneHoldsNothing) {
  const Index index;
  EXPECT_EQ(index.find("a"), nullptr);
  EXPECT_EQ(index.size(), 0U);
  EXPECT_EQ(index.count({}, std::nullopt), 0U);
  EXPECT_TRUE(index.scan({}, std::nullopt, [](const RecordPtr&) { return false; }));
}

// Grows, churns and shrinks to nothing; every frozen index must stay what it was.
TEST(Index, AgreesWithAMapAndFrozenOnesNeverChange) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SeededRng rng(seed);
    IndexEditor editor;
    Oracle oracle;
    std::vector<std::pair<Index, Oracle>> frozen;
    for (int step = 0; step < 12000; ++step) {
      const std::string key = "k" + std::to_string(rng.below(1500));
      const std::uint64_t deletes = step < 5000 ? 20 : step < 8000 ? 50 : 90;
      if (rng.below(100) < deletes) {
        if (oracle.erase(key) > 0) editor.erase(key);
      } else {
        oracle[key] = step;
        editor.put(record(key, step));
      }
      if (step % 1000 == 0) frozen.emplace_back(editor.freeze(), oracle);
    }
    while (!oracle.empty()) {
      editor.erase(oracle.begin()->first);
      oracle.erase(oracle.begin());
    }
    frozen.emplace_back(editor.freeze(), oracle);
    for (const auto& [index, want] : frozen) {
      EXPECT_EQ(contents(index), want);
      EXPECT_EQ(index.size(), want.size());
    }
  }
}

TEST(Index, CountsAndScansSubrangesAsAMapDoes) {
  SeededRng rng(7);
  IndexEditor editor;
  Oracle oracle;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = std::to_string(rng.below(100000));
    oracle[key] = i;
    editor.put(record(key, i));
  }
  const Index index = editor.freeze();
  for (int i = 0; i < 500; ++i) {
    const KeyRange range{std::to_string(rng.below(1000)),
                         i % 5 == 0 ? "" : std::to_string(rng.below(100000))};
    const std::string after = std::to_string(rng.below(10000));
    std::vector<std::string> want, seen;
    for (const auto& [key, revision] : oracle) {
      if (range.contains(key) && key > after) want.push_back(key);
    }
    index.scan(range, after, [&seen](const RecordPtr& r) {
      seen.push_back(r->key);
      return true;
    });
    EXPECT_EQ(seen, want);
    EXPECT_EQ(index.count(range, after), want.size());
  }
}

TEST(Index, KeysLoadedInOrderFillTheirNodes) {
  IndexEditor editor;
  for (int i = 100000; i < 200000; ++i) editor.put(record(std::to_string(i), i));
  EXPECT_EQ(editor.freeze().size(), 100000U);
  EXPECT_NE(editor.find("199999"), nullptr);
  EXPECT_EQ(editor.find("1999990"), nullptr);
}

TEST(Index, TellsWhatOnlyOlderOnesStillHold) {
  IndexEditor editor;
  for (int i = 0; i < 5000; ++i) editor.put(record("key-number-" + std::to_string(i), i + 1));
  EXPECT_EQ(editor.take_replaced_bytes(), 0U) << "nothing was published yet";
  const Index before = editor.freeze();
  editor.put(record("key-number-7", 6000));
  const std::size_t path = editor.take_replaced_bytes();
  EXPECT_GT(path, 1000U) << "a leaf and what stands above it";
  EXPECT_LT(path, 20'000U);
  editor.put(record("key-number-7", 6001));
  EXPECT_EQ(editor.take_replaced_bytes(), 0U) << "its own copy, edited in place";
  editor.freeze();
  for (int i = 0; i < 5000; ++i) editor.put(record("key-number-" + std::to_string(i), 7000 + i));
  EXPECT_GT(editor.take_replaced_bytes(), 20 * path) << "every leaf";
}

}  // namespace
}  // namespace krater::storage
