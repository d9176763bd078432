// What a sealer seals is nowhere on the disk in its own words, and comes back in them.
#include "storage/sealer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "storage/rocksdb_store.h"

namespace krater::storage {
namespace {

namespace fs = std::filesystem;

// Turns bytes of keys under "/secret/" by a number; another number opens nothing.
class Turning final : public Sealer {
 public:
  explicit Turning(char by) : by_(by) {}
  std::optional<std::string> seal(std::string_view key, std::string_view value) const override {
    if (!key.starts_with("/secret/")) return std::nullopt;
    return std::string("turned") + by_ + turned(value, by_);
  }
  Result<std::optional<std::string>> open(std::string_view key,
                                          std::string_view stored) const override {
    if (!stored.starts_with("turned")) return std::optional<std::string>();
    if (stored[6] != by_) return make_error(Code::Internal, std::string(key) + " does not open");
    return std::optional<std::string>(turned(stored.substr(7), static_cast<char>(-by_)));
  }

 private:
  static std::string turned(std::string_view text, char by) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c + by);
    return out;
  }
  char by_;
};

class SealedStore : public ::testing::Test {
 protected:
  SealedStore() {
    std::string pattern = (fs::temp_directory_path() / "krater-sealed-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SealedStore() override { fs::remove_all(folder_); }

  Result<std::unique_ptr<Store>> open(char by, std::size_t recent = 65536) {
    OpenOptions options;
    options.path = (folder_ / "store").string();
    options.sealer = std::make_shared<const Turning>(by);
    options.recent_events = recent;
    options.recent_snapshots = 1;
    return open_rocksdb(std::move(options));
  }
  static Revision put(Store& store, const std::string& key, const std::string& value) {
    Transaction transaction;
    Op op;
    op.key = key;
    op.value = value;
    transaction.ops.push_back(std::move(op));
    return commit_and_wait(store, std::move(transaction))->revision;
  }
  bool on_disk(const std::string& text) const {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::stringstream bytes;
      bytes << in.rdbuf();
      if (bytes.str().find(text) != std::string::npos) return true;
    }
    return false;
  }

  fs::path folder_;
};

TEST_F(SealedStore, NoFileHoldsWhatIsSealed) {
  {
    const auto store = *open(3);
    put(*store, "/secret/a", "hidden-word");
    put(*store, "/plain/a", "shown-word");
    EXPECT_EQ(*(*store->snapshot()->get("/secret/a"))->value, "hidden-word");
  }
  EXPECT_TRUE(on_disk("shown-word"));  // the test would find it
  EXPECT_FALSE(on_disk("hidden-word"));
  const auto store = *open(3);
  EXPECT_EQ(*(*store->snapshot()->get("/secret/a"))->value, "hidden-word");
  EXPECT_EQ(*(*store->snapshot()->get("/plain/a"))->value, "shown-word");
}

TEST_F(SealedStore, HistoryIsOpenedToo) {
  const auto store = *open(3, 1);
  const Revision first = put(*store, "/secret/a", "one");
  put(*store, "/secret/a", "two");
  for (int i = 0; i < 10; ++i) put(*store, "/plain/" + std::to_string(i), "x");
  const auto past = store->snapshot_at(first);
  ASSERT_TRUE(past.has_value());
  EXPECT_EQ(*(*(*past)->get("/secret/a"))->value, "one");
  const auto watch = store->watch({KeyRange::prefix("/secret/"), first, {}});
  ASSERT_TRUE(watch.has_value());
  const auto events = (*watch)->next(10);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(*events->front()->record->value, "two");
  EXPECT_EQ(*events->front()->previous->value, "one");
}

TEST_F(SealedStore, WhatDoesNotOpenStopsTheStartAndIsNamed) {
  { put(**open(3), "/secret/a", "x"); }
  const auto store = open(4);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().message,
            "data directory " + (folder_ / "store").string() + ": /secret/a does not open");
  EXPECT_TRUE(open(3).has_value());  // nothing was harmed
}

TEST_F(SealedStore, WhatWasWrittenPlainlyIsStillRead) {
  {
    OpenOptions options;
    options.path = (folder_ / "store").string();
    const auto store = *open_rocksdb(std::move(options));
    put(*store, "/secret/a", "x");
  }
  EXPECT_EQ(*(*(*open(3))->snapshot()->get("/secret/a"))->value, "x");
}

}  // namespace
}  // namespace krater::storage
