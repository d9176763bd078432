// What happens when the disk is full, loses power, is damaged or belongs to somebody else: never
// silent loss.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "storage/key_codec.h"
#include "storage/testing/medium.h"
#include "storage/testing/rocksdb_faulty_disk.h"
#include "storage/testing/store_fixture.h"

namespace krater::storage::testing {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> must_open(Medium& medium, OpenOptions tuning = {}) {
  auto opened = medium.open(std::move(tuning));
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

// A memtable so small that a few writes make files, and recycled logs come into use.
OpenOptions small_files() {
  OpenOptions tuning;
  tuning.write_buffer_bytes = 64U << 10;
  return tuning;
}

void fill(Store& store, int keys) {
  for (int i = 0; i < keys; ++i) {
    ASSERT_TRUE(commit(store, {put_op("k" + std::to_string(i), std::string(1000, 'x'))},
                       Durability::Relaxed)
                    .ok());
  }
}

fs::path largest(const fs::path& directory, const std::string& extension) {
  fs::path found;
  std::uintmax_t size = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() != extension || entry.file_size() <= size) continue;
    found = entry.path();
    size = entry.file_size();
  }
  return found;
}

void flip_byte(const fs::path& file, std::uintmax_t at) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(bytes.get() ^ 0x40);
  bytes.seekp(static_cast<std::streamoff>(at));
  bytes.put(byte);
  ASSERT_TRUE(bytes.good());
}

std::string refusal_to_open(DiskMedium& medium, OpenOptions tuning = {}) {
  auto opened = medium.open(std::move(tuning));
  if (opened) return "it opened";
  EXPECT_NE(opened.error().message.find(medium.path()), std::string::npos)
      << "names the directory: " << opened.error().message;
  return opened.error().message;
}

// --- power
// ---------------------------------------------------------------------------------------------------

TEST(PowerLoss, KeepsEveryAcknowledgedWriteAndNothingHalf) {
  constexpr int kRounds = 20, kThreads = 3;
  const std::uint64_t seed = 20261129;
  SeededRng rng(seed);
  DiskMedium medium;
  FaultyDisk disk;
  OpenOptions tuning = small_files();
  tuning.env = disk.env();
  std::map<std::string, int> acknowledged;
  Revision newest;
  for (int round = 0; round < kRounds; ++round) {
    auto store = must_open(medium, tuning);
    std::mutex mutex;
    std::atomic<int> answers = 0;
    const int lose_after = static_cast<int>(rng.below(60));
    std::map<std::string, int> started = acknowledged;
    for (int t = 0; t < kThreads; ++t) started.emplace("t" + std::to_string(t), 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const std::string key = "t" + std::to_string(t);
        int count = started.at(key);
        for (;;) {
          ++count;
          const std::string value = std::to_string(count);
          const Answer answer = commit(*store, {put_op(key + "/a", value + std::string(400, '.')),
                                                put_op(key + "/b", value)});
          if (!answer.ok()) return;
          const std::lock_guard lock(mutex);
          acknowledged[key] = count;
          newest = std::max(newest, answer.committed.revision);
          ++answers;
          answers.notify_all();
        }
      });
    }
    for (int seen = answers; seen < lose_after; seen = answers) answers.wait(seen);
    disk.lose_power(rng);
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(store->failure());
    store.reset();
    disk.restore_power();

    store = must_open(medium, tuning);
    EXPECT_GE(store->revision(), newest) << "round " << round;
    newest = store->revision();
    const State state = state_of(*store->snapshot());
    for (const auto& [key, count] : acknowledged) {
      ASSERT_TRUE(state.count(key + "/a") && state.count(key + "/b")) << "round " << round;
      const int a = std::stoi(state.at(key + "/a")), b = std::stoi(state.at(key + "/b"));
      EXPECT_GE(a, count) << "round " << round;
      EXPECT_EQ(a, b) << "half a transaction, round " << round;
    }
    for (auto& [key, count] : acknowledged) count = std::stoi(state.at(key + "/b"));
  }
}

TEST(PowerLoss, RevisionsThatWereSeenAreNotGivenOutAgain) {
  SeededRng rng(3);
  DiskMedium medium;
  FaultyDisk disk;
  OpenOptions tuning;
  tuning.env = disk.env();
  auto store = must_open(medium, tuning);
  put(*store, "synced", "1");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(commit(*store, {put_op("lease", std::to_string(i))}, Durability::Relaxed).ok());
  }
  const Revision seen = store->revision();
  ASSERT_EQ(seen, Revision(21));
  disk.lose_power(rng);
  store.reset();
  disk.restore_power();

  store = must_open(medium, tuning);
  EXPECT_GT(store->revision(), seen);
  const Revision kept = (*store->snapshot()->get("lease"))->modified;
  ASSERT_LT(kept, seen) << "the seed must lose something";
  EXPECT_EQ(store->watch({{}, seen}).error().code, Code::Expired) << "it saw what is gone";
  EXPECT_EQ(store->snapshot_at(seen).error().code, Code::Expired);
  const Revision next = put(*store, "synced", "2");
  for (int reopened = 0; reopened < 2; ++reopened) {
    auto watch = *store->watch({{}, kept});
    EXPECT_EQ(texts(drain(*watch)),
              (std::vector<std::string>{"put synced=2 @" + next.text() + " was 1@1"}));
    EXPECT_EQ(store->watch({{}, seen}).error().code, Code::Expired);
    watch.reset();
    store.reset();
    store = must_open(medium, tuning);
  }
  EXPECT_EQ(store->revision(), next) << "a clean end loses nothing and skips nothing";
  ASSERT_TRUE(store->compact(next));
  store.reset();
  EXPECT_EQ(must_open(medium, tuning)->revision(), next);
}

// --- space
// ---------------------------------------------------------------------------------------------------

TEST(FullDisk, EndsWritesWithAClearWordAndLosesNothing) {
  DiskMedium medium;
  FaultyDisk disk;
  OpenOptions tuning;
  tuning.env = disk.env();
  auto store = must_open(medium, tuning);
  auto watch = *store->watch({{}, Revision(0)});
  put(*store, "before", "1");
  disk.set_space_left(50'000);
  State acknowledged{{"before", "1"}};
  std::optional<CommitFailure> failure;
  for (int i = 0; i < 1000 && !failure; ++i) {
    const std::string key = "k" + std::to_string(i), value(1000, 'x');
    const Answer answer = commit(*store, {put_op(key, value)});
    if (answer.ok()) acknowledged[key] = value;
    failure = answer.failure;
  }
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error.code, Code::Unavailable);
  EXPECT_NE(failure->error.message.find("no space left on device: " + medium.path()),
            std::string::npos)
      << failure->error.message;
  ASSERT_TRUE(store->failure());
  EXPECT_NE(store->failure()->find("no space left on device"), std::string::npos);
  EXPECT_EQ(commit(*store, {put_op("later", "1")}).code(), Code::Unavailable);
  EXPECT_EQ(store->compact(store->revision()).error().code, Code::Unavailable);
  // Reads, watches and history go on with what was acknowledged, and only that.
  EXPECT_EQ(state_of(*store->snapshot()), acknowledged);
  EXPECT_EQ(drain(*watch).size(), acknowledged.size());
  EXPECT_EQ(state_of(**store->snapshot_at(Revision(1))), (State{{"before", "1"}}));
  watch.reset();
  store.reset();

  disk.set_space_left(-1);
  store = must_open(medium, tuning);
  for (const auto& [key, value] : acknowledged) {
    const RecordPtr record = *store->snapshot()->get(key);
    ASSERT_NE(record, nullptr) << key;
    EXPECT_EQ(*record->value, value);
  }
  EXPECT_TRUE(commit(*store, {put_op("later", "1")}).ok());
}

// --- other owners, other formats
// -----------------------------------------------------------------------------

TEST(Directory, InUseIsRefusedByName) {
  DiskMedium medium;
  auto store = must_open(medium);
  EXPECT_NE(refusal_to_open(medium).find("in use by another process"), std::string::npos);
  EXPECT_EQ(medium.open({}).error().code, Code::Unavailable);
  put(*store, "a", "1");  // the owner is not disturbed
}

TEST(Directory, OfANewerFormatIsLeftAlone) {
  DiskMedium medium;
  must_open(medium).reset();
  {
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(rocksdb::Options(), medium.path(), &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    ASSERT_TRUE(db->Put({}, kMetaFormat, encode_number(kFormatVersion + 1)).ok());
  }
  EXPECT_NE(refusal_to_open(medium).find("has format 2"), std::string::npos);
}

TEST(Directory, ThatCannotBeMadeIsSaid) {
  OpenOptions options;
  options.path = "/proc/krater-store";
  const auto opened = open_rocksdb(options);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/proc/krater-store"), std::string::npos);
}

// --- damage
// --------------------------------------------------------------------------------------------------

TEST(Damage, InATableFileIsFoundAtOpenAndTheFileNamed) {
  DiskMedium medium;
  {
    auto store = must_open(medium, small_files());
    fill(*store, 500);
  }
  const fs::path table = largest(medium.path(), ".sst");
  ASSERT_FALSE(table.empty());
  flip_byte(table, fs::file_size(table) / 3);
  const std::string why = refusal_to_open(medium, small_files());
  EXPECT_NE(why.find("is damaged"), std::string::npos) << why;
  EXPECT_NE(why.find(table.filename().string()), std::string::npos) << why;
}

TEST(Damage, AMissingTableFileIsNamed) {
  DiskMedium medium;
  {
    auto store = must_open(medium, small_files());
    fill(*store, 500);
  }
  const fs::path table = largest(medium.path(), ".sst");
  fs::remove(table);
  const std::string why = refusal_to_open(medium, small_files());
  EXPECT_NE(why.find(table.stem().string()), std::string::npos) << why;
}

// RocksDB itself would drop the log from the first bad record on and call it recovered.
TEST(Damage, AmidTheWriteAheadLogIsNotMistakenForATornEnd) {
  DiskMedium medium;
  {
    auto store = must_open(medium);
    for (int i = 0; i < 50; ++i) put(*store, "k" + std::to_string(i), std::string(1000, 'x'));
  }
  flip_byte(largest(medium.path(), ".log"), 20'000);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string why = refusal_to_open(medium);
    EXPECT_NE(why.find("revisions up to 50 had been acknowledged"), std::string::npos) << why;
  }
}

TEST(Damage, InTheManifestIsFound) {
  DiskMedium medium;
  {
    auto store = must_open(medium, small_files());
    fill(*store, 200);
  }
  for (const auto& entry : fs::directory_iterator(medium.path())) {
    if (entry.path().filename().string().starts_with("MANIFEST")) flip_byte(entry.path(), 60);
  }
  EXPECT_NE(refusal_to_open(medium), "it opened");
}

TEST(Damage, WithoutCurrentTheDirectoryIsNotTakenForANewOne) {
  DiskMedium medium;
  {
    auto store = must_open(medium);
    put(*store, "a", "1");
  }
  const fs::path current = fs::path(medium.path()) / "CURRENT";
  fs::rename(current, current.string() + ".moved");
  EXPECT_NE(refusal_to_open(medium).find("CURRENT is missing"), std::string::npos);
  fs::rename(current.string() + ".moved", current);
  EXPECT_EQ(state_of(*must_open(medium)->snapshot()), (State{{"a", "1"}})) << "nothing was touched";
}

TEST(Damage, ADirectoryThatWasNotFinishedIsNone) {
  DiskMedium medium;
  { auto store = must_open(medium); }
  for (const auto& entry : fs::directory_iterator(medium.path())) {
    const std::string name = entry.path().filename().string();
    if (name == "CURRENT" || name.ends_with(".log")) fs::remove(entry.path());
  }
  auto store = must_open(medium);
  put(*store, "a", "1");
  EXPECT_EQ(state_of(*store->snapshot()), (State{{"a", "1"}}));
}

TEST(Damage, AHoleInTheLogIsFound) {
  DiskMedium medium;
  {
    auto store = must_open(medium);
    for (int i = 0; i < 3; ++i) put(*store, "k", std::to_string(i));
  }
  {
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(rocksdb::Options(), medium.path(), &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    ASSERT_TRUE(db->Delete({}, log_key(Revision(2))).ok());
  }
  EXPECT_NE(refusal_to_open(medium).find("revision 2 is missing in the log"), std::string::npos);
}

}  // namespace
}  // namespace krater::storage::testing
