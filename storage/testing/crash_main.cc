// The crash test: a process full of concurrent writers is killed (SIGKILL) at random points, again
// and again, on the same directory. After each kill the store is opened and judged by the ledger
// its clients kept.
//   crash_test [rounds] [seed]
// The seed is printed; the moment of a kill depends on the machine, everything else on the seed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/env.h"
#include "base/log.h"
#include "storage/rocksdb_store.h"
#include "storage/testing/crash_ledger.h"
#include "storage/testing/medium.h"

namespace krater::storage::testing {
namespace {

constexpr const char* kLife =
    "life";  // crash_test life DIRECTORY SERIAL SEED PIPE: the process that dies
constexpr std::uint32_t kWriters = 6;
constexpr std::uint32_t kSlots = 12;

// Files so small that every round passes flushes, compactions and recycled logs.
OpenOptions tuning(const std::string& path) {
  OpenOptions options;
  options.path = path;
  options.write_buffer_bytes = 128U << 10;
  options.recent_events = 64;
  return options;
}

std::unique_ptr<Store> must_open(const std::string& path) {
  auto opened = open_rocksdb(tuning(path));
  CHECK_MSG(opened.has_value(), opened.error().message);
  return *std::move(opened);
}

// --- the process that dies
// -----------------------------------------------------------------------------------

void tell(int pipe, const CrashRecord& record) {
  static_assert(sizeof record <= 512);  // POSIX: such a write to a pipe is whole or absent
  if (write(pipe, &record, sizeof record) != sizeof record) _exit(0);  // the judge has gone
}

void write_for_ever(Store& store, std::uint32_t writer, std::uint64_t serial, std::uint64_t seed,
                    int pipe) {
  SeededRng rng(seed);
  for (;; ++serial) {
    CrashRecord record{CrashRecord::What::Intent,
                       writer,
                       static_cast<std::uint32_t>(rng.below(kSlots)),
                       0,
                       serial,
                       0};
    const std::string a = crash_key(writer, record.slot, 'a');
    const std::string b = crash_key(writer, record.slot, 'b');
    const RecordPtr now = *store.snapshot()->get(a);
    record.deletes = now && rng.below(4) == 0 ? 1 : 0;
    const Expect expect = now ? Expect::exactly(now->modified) : Expect::absent();
    Transaction transaction;
    for (const std::string& key : {a, b}) {
      Op op{record.deletes ? Op::What::Delete : Op::What::Put, key, Expect::any(), {}};
      if (key == a) op.expect = expect;
      if (!record.deletes) op.value = crash_value(serial);
      transaction.ops.push_back(std::move(op));
    }
    tell(pipe, record);
    const auto committed = commit_and_wait(store, std::move(transaction));
    CHECK_MSG(committed.has_value(), committed.error().message);
    record.what = CrashRecord::What::Acknowledged;
    record.revision = committed->revision.number();
    tell(pipe, record);
  }
}

[[noreturn]] void live_until_killed(const std::string& path, std::uint64_t serial,
                                    std::uint64_t seed, int pipe) {
  krater::log::configure(log::Level::Warn);
  auto store = must_open(path);
  const Revision seen_by_all(store->revision());
  std::vector<std::thread> threads;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&store, writer, serial, seed, pipe] {
      write_for_ever(*store, writer, serial, seed + writer, pipe);
    });
  }
  // Compaction dies with the rest; it spares what the judge's watcher has not seen yet.
  if (seed % 3 == 0) CHECK(store->compact(seen_by_all));
  for (;;) pause();
}

// --- the judge
// -----------------------------------------------------------------------------------------------

// Reads records until `enough` acknowledgements, then a random moment longer.
void read_until(int pipe, std::size_t enough, Duration moment, CrashLedger& ledger) {
  const std::size_t start = ledger.acknowledged();
  CrashRecord record;
  while (ledger.acknowledged() - start < enough &&
         read(pipe, &record, sizeof record) == sizeof record) {
    ledger.note(record);
  }
  pollfd nothing{-1, 0, 0};
  const timespec time{0, static_cast<long>(moment.count())};
  ppoll(&nothing, 1, &time, nullptr);
}

// A fresh image of this program: RocksDB's threads would not survive a bare fork.
pid_t start_life(const std::string& path, std::uint64_t serial, std::uint64_t seed,
                 int (&ends)[2]) {
  CHECK(pipe(ends) == 0);
  const std::string from = std::to_string(serial), dice = std::to_string(seed);
  const std::string out = std::to_string(ends[1]);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(ends[0]);
    execl("/proc/self/exe", "storage_crash_test", kLife, path.c_str(), from.c_str(), dice.c_str(),
          out.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  return child;
}

bool round(const std::string& path, SeededRng& rng, CrashLedger& ledger) {
  int ends[2];
  const pid_t child = start_life(path, ledger.next_serial(), rng.next(), ends);
  // One in five dies while it is still opening or has hardly begun.
  const std::size_t enough = rng.below(5) == 0 ? 0 : rng.below(400);
  read_until(ends[0], enough, Duration(rng.below(enough == 0 ? 30'000'000 : 2'000'000)), ledger);
  CHECK(kill(child, SIGKILL) == 0);
  CrashRecord record;
  while (read(ends[0], &record, sizeof record) == sizeof record) ledger.note(record);
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    std::fprintf(stderr, "the writers' process ended by itself: status %d\n", status);
    return false;
  }
  const Revision before = ledger.watched();
  auto store = must_open(path);
  std::vector<std::string> wrong = ledger.check(*store);
  if (store->revision() < before)
    wrong.push_back("revisions went back to " + store->revision().text());
  for (const std::string& line : wrong) std::fprintf(stderr, "  %s\n", line.c_str());
  return wrong.empty();
}

int run(int rounds, std::uint64_t seed) {
  std::printf("crash test: %d rounds, seed %llu\n", rounds, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  log::configure(log::Level::Warn);
  DiskMedium medium;
  SeededRng rng(seed);
  CrashLedger ledger;
  for (int i = 0; i < rounds; ++i) {
    if (round(medium.path(), rng, ledger)) continue;
    std::fprintf(stderr, "failed in round %d of seed %llu\n", i,
                 static_cast<unsigned long long>(seed));
    return 1;
  }
  std::printf("%d kills, %zu acknowledged transactions, %lld revisions, none lost\n", rounds,
              ledger.acknowledged(), static_cast<long long>(ledger.watched().number()));
  // Kills that never met a write would prove nothing.
  return ledger.acknowledged() >= static_cast<std::size_t>(rounds) ? 0 : 1;
}

}  // namespace
}  // namespace krater::storage::testing

int main(int argc, char** argv) {
  using namespace krater::storage::testing;
  const auto number = [argv](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (argc == 6 && std::string(argv[1]) == kLife) {
    live_until_killed(argv[2], number(3), number(4), static_cast<int>(number(5)));
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  return run(rounds, argc > 2 ? number(2) : std::random_device{}());
}
