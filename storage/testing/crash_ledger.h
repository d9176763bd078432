// What a client knows about its writes, kept outside the process that dies: the crash test's judge.
// Intent is noted before a write is handed to the store, the answer when it comes; both travel
// through a pipe as fixed-size records, so a record is there as a whole or not at all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/store.h"

namespace krater::storage::testing {

// One transaction of a writer writes its `serial` to two of its keys (a pair must never be torn),
// or deletes both.
struct CrashRecord {
  enum class What : std::uint32_t { Intent, Acknowledged };
  What what = What::Intent;
  std::uint32_t writer = 0;
  std::uint32_t slot = 0;
  std::uint32_t deletes = 0;
  std::uint64_t serial = 0;   // grows by one with each transaction of a writer, over all its lives
  std::int64_t revision = 0;  // Acknowledged: of the second write; the first has the one before
};

std::string crash_key(std::uint32_t writer, std::uint32_t slot, char half);
// Longer than the serial, and different in length from write to write.
std::string crash_value(std::uint64_t serial);

class CrashLedger {
 public:
  void note(const CrashRecord& record);
  // Checks a store that has just been opened again against everything noted so far. Empty: all is
  // well.
  std::vector<std::string> check(Store& store);
  // Where the writers of the next life go on counting.
  std::uint64_t next_serial() const { return highest_serial_ + 1; }
  std::size_t acknowledged() const { return acknowledged_total_; }
  Revision watched() const { return watched_; }

 private:
  using Id = std::pair<std::uint32_t, std::uint64_t>;  // writer, serial
  void check_event(const Event& event, std::vector<std::string>& wrong);
  void check_acknowledged(std::vector<std::string>& wrong);

  std::map<Id, CrashRecord> intents_;
  std::map<Revision, CrashRecord> acknowledged_;  // of this life, by revision of the second write
  std::map<std::string, std::string> model_;      // what the events so far add up to
  std::map<Revision, std::string> events_;  // of this life: "key=value", or "key" for a deletion
  Revision watched_;                        // the resuming watcher's last revision
  std::uint64_t highest_serial_ = 0;
  std::size_t acknowledged_total_ = 0;
};

}  // namespace krater::storage::testing
