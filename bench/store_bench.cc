// What the store costs, beside what the disk and RocksDB cost on this machine: one run, one table.
//   store_bench [directory] [seconds per measurement]
// Durable creates: clients with one write outstanding each. "raw" is RocksDB alone writing the same
// rows, as many to a batch as the store grouped on average, with the same options and one sync a
// batch; the runs alternate, because disks have moods.
#include <malloc.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "storage/key_codec.h"
#include "storage/rocksdb_store.h"

namespace krater::storage {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string pod_key(std::int64_t i) {
  char key[64];
  std::snprintf(key, sizeof key, "/registry/pods/default/pod-%012lld", static_cast<long long>(i));
  return key;
}

std::unique_ptr<Store> must_open(OpenOptions options) {
  auto opened = open_rocksdb(std::move(options));
  CHECK_MSG(opened.has_value(), opened.error().message);
  return *std::move(opened);
}

fs::path fresh(const fs::path& base, const std::string& name) {
  const fs::path path = base / ("store_bench." + std::to_string(getpid())) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

// --- durable creates
// -----------------------------------------------------------------------------------------

// Clients that have been answered and want to write again; what a server's connection threads would
// be.
class Answered {
 public:
  void push(int client) {
    {
      const std::lock_guard lock(mutex_);
      clients_.push_back(client);
    }
    some_.notify_one();
  }
  std::deque<int> take() {
    std::unique_lock lock(mutex_);
    some_.wait(lock, [this] { return !clients_.empty(); });
    return std::exchange(clients_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<int> clients_;
};

struct Rate {
  double per_second = 0;
  double group = 0;  // writes that shared a sync
};

// Groups are counted by what a reader sees: a snapshot is published once a group.
Rate store_creates(const fs::path& path, int clients, std::size_t value_bytes, double seconds) {
  OpenOptions options;
  options.path = path;
  auto store = must_open(options);
  Answered answered;
  std::atomic<std::int64_t> groups = 0;
  Snapshot* last = nullptr;  // the writer's thread only
  const std::string value(value_bytes, 'v');
  std::int64_t submitted = 0;
  int outstanding = 0;
  const auto submit = [&](int client) {
    Transaction create;
    create.ops.push_back(Op{Op::What::Put, pod_key(submitted++), Expect::absent(), value});
    store->commit(std::move(create), [&, client](std::optional<CommitFailure> failure, Committed) {
      CHECK(!failure);
      auto* now = const_cast<Snapshot*>(store->snapshot().get());
      if (now != last) ++groups;
      last = now;
      answered.push(client);
    });
    ++outstanding;
  };
  const auto start = Clock::now();
  for (int client = 0; client < clients; ++client) submit(client);
  while (outstanding > 0) {
    for (const int client : answered.take()) {
      --outstanding;
      if (seconds_since(start) < seconds) submit(client);
    }
  }
  const double took = seconds_since(start);
  const auto writes = static_cast<double>(submitted);
  return {writes / took, writes / static_cast<double>(std::max<std::int64_t>(groups, 1))};
}

Rate raw_creates(const fs::path& path, double group, std::size_t value_bytes, double seconds) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = OpenOptions().write_buffer_bytes;
  options.max_write_buffer_number = 3;
  options.recycle_log_file_num = 2;
  rocksdb::DB* raw = nullptr;
  CHECK(rocksdb::DB::Open(options, path, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const std::string value(value_bytes, 'v');
  std::int64_t revision = 0;
  double wanted = 0;  // the running sum of a fractional batch size
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    rocksdb::WriteBatch batch;
    for (wanted += group; static_cast<double>(revision) < wanted;) {
      ++revision;
      const std::string key = pod_key(revision);
      CHECK(batch
                .Put(data_key(key, Revision(revision)),
                     version_head(VersionKind::Put, Revision(revision)) + value)
                .ok());
      CHECK(batch.Put(log_key(Revision(revision)), log_value({LogEntry::What::Put, {}, key})).ok());
    }
    CHECK(db->Write(synced, &batch).ok());
  }
  return {static_cast<double>(revision) / seconds_since(start), group};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench_creates(const fs::path& base, double seconds) {
  std::printf("\ndurable creates          clients   store/s     raw/s   ratio   writes a sync\n");
  for (const std::size_t value_bytes : {std::size_t{1024}, std::size_t{10240}}) {
    for (const int clients : {1, 8, 64}) {
      std::vector<double> ours, raw, group;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Rate mine = store_creates(fresh(base, "store"), clients, value_bytes, seconds);
        const Rate bare = raw_creates(fresh(base, "raw"), mine.group, value_bytes, seconds);
        ours.push_back(mine.per_second);
        raw.push_back(bare.per_second);
        group.push_back(mine.group);
      }
      std::printf("  %6zu bytes a value    %5d  %9.0f %9.0f    %4.2f   %8.1f\n", value_bytes,
                  clients, median(ours), median(raw), median(ours) / median(raw), median(group));
      std::fflush(stdout);
    }
  }
}

// --- memory and reads
// ----------------------------------------------------------------------------------------

void fill(Store& store, std::int64_t keys, std::size_t value_bytes) {
  for (std::int64_t i = 0; i < keys; ++i) {
    Transaction create{{}, Durability::Relaxed};
    create.ops.push_back(
        Op{Op::What::Put, pod_key(i), Expect::any(), std::string(value_bytes, 'v')});
    store.commit(std::move(create),
                 [](std::optional<CommitFailure> failure, Committed) { CHECK(!failure); });
  }
}

template <typename Work>
double nanos(std::int64_t times, Work work) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < times; ++i) work(i);
  return seconds_since(start) * 1e9 / static_cast<double>(times);
}

void bench_memory_and_reads(const fs::path& base) {
  constexpr std::int64_t kKeys = 150'000;
  constexpr std::size_t kValue = 200;
  OpenOptions options;
  options.path = fresh(base, "reads");
  options.writer_thread = false;
  options.recent_events = 1;
  options.recent_snapshots = 1;
  {
    auto store = must_open(options);
    fill(*store, kKeys, kValue);
  }
  malloc_trim(0);
  const std::size_t before = mallinfo2().uordblks;
  const auto start = Clock::now();
  auto store = must_open(options);
  const double opened = seconds_since(start);
  const std::size_t used = mallinfo2().uordblks - before;
  const std::size_t payload = pod_key(0).size() + kValue;
  std::printf(
      "\n%lld keys of %zu bytes with values of %zu: opened in %.0f ms, "
      "%.0f bytes a key beside key and value (RocksDB's buffers included)\n",
      static_cast<long long>(kKeys), pod_key(0).size(), kValue, opened * 1e3,
      static_cast<double>(used) / kKeys - static_cast<double>(payload));

  const double take = nanos(1'000'000, [&](std::int64_t) { CHECK(store->snapshot() != nullptr); });
  const SnapshotPtr snapshot = store->snapshot();
  const double get = nanos(500'000, [&](std::int64_t i) {
    CHECK(*snapshot->get(pod_key(i * 7919 % kKeys)) != nullptr);
  });
  std::size_t seen = 0;
  const double scan = nanos(20, [&](std::int64_t) {
    CHECK(snapshot->scan(KeyRange::prefix("/registry/pods/"), {}, [&](const RecordPtr& record) {
      seen += record->value->size();
      return true;
    }));
  });
  const double count = nanos(100'000, [&](std::int64_t) {
    CHECK(*snapshot->count(KeyRange::prefix("/registry/pods/")) == kKeys);
  });
  std::printf("snapshot %.0f ns, get %.0f ns, count of all %.0f ns, scan %.0f ns a key\n", take,
              get, count, scan / kKeys);
}

// --- watches
// -------------------------------------------------------------------------------------------------

// A write with nobody, many idle and many interested watchers, on memory so that the disk does not
// hide the cost.
void bench_watches() {
  OpenOptions options;
  options.in_memory = true;
  options.writer_thread = false;
  auto store = must_open(options);
  const auto write = [&](std::int64_t i) {
    Transaction create{{}, Durability::Relaxed};
    create.ops.push_back(Op{Op::What::Put, pod_key(i % 1000), Expect::any(), "v"});
    store->commit(std::move(create), [](std::optional<CommitFailure>, Committed) {});
  };
  constexpr std::int64_t kWrites = 20'000;
  write(0);
  const double alone = nanos(kWrites, write);
  std::vector<std::unique_ptr<Watch>> watches;
  std::int64_t notified = 0;
  const auto watch = [&](const KeyRange& range) {
    watches.push_back(*store->watch({range, store->revision(), [&notified] { ++notified; }}));
    CHECK(watches.back()->next(1)->empty());
  };
  for (int i = 0; i < 10'000; ++i) watch(KeyRange::prefix("/registry/leases/" + std::to_string(i)));
  const double idle = nanos(kWrites, write);
  CHECK(notified == 0);
  watches.clear();
  for (int i = 0; i < 1000; ++i) watch(KeyRange::prefix("/registry/pods/"));
  const double fan_out = nanos(1, write);
  CHECK(notified == 1000);
  const double deliver = nanos(1000, [&](std::int64_t i) {
    CHECK(watches[static_cast<std::size_t>(i)]->next(100)->size() == 1);
  });
  std::printf(
      "\na write in memory %.1f us; with 10,000 idle watchers elsewhere %.1f us; with 1,000 "
      "waiting for it %.0f us, then %.2f us each to fetch it\n",
      alone / 1e3, idle / 1e3, fan_out / 1e3, deliver / 1e3);
}

}  // namespace
}  // namespace krater::storage

int main(int argc, char** argv) {
  using namespace krater::storage;
  krater::log::configure(krater::log::Level::Warn);
  const fs::path base = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path();
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2.0;
  bench_creates(base, seconds);
  bench_memory_and_reads(base);
  bench_watches();
  fs::remove_all(base / ("store_bench." + std::to_string(getpid())));
}
