// The embedded store: RocksDB below, everything current in memory. See store.h for the contract.
//   Result<std::unique_ptr<Store>> store = open_rocksdb({.path = "/var/lib/krater/store"});
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/sealer.h"
#include "storage/store.h"

namespace rocksdb {
class Env;
}

namespace krater::storage {

struct OpenOptions {
  // Directory, created when missing. In memory it is only a name.
  std::string path{};
  // RocksDB's in-memory environment: the same code on nothing but memory, gone with the store.
  bool in_memory = false;
  // What stands below RocksDB instead of the operating system: injected faults, or one memory for
  // several lives.
  std::shared_ptr<rocksdb::Env> env{};
  Decode decode{};
  // How values are written; null: as they are.
  std::shared_ptr<const Sealer> sealer{};
  // False: commit() writes and answers before it returns, on the caller's thread. One thread then
  // owns the store, and a run can be repeated exactly (simulation).
  bool writer_thread = true;

  // Waiting commits; more are refused with Code::TooManyRequests.
  std::size_t queue_transactions = 16384;
  std::size_t queue_bytes = 256U << 20;
  // Values in one write to disk; the rest waits for the next.
  std::size_t group_bytes = 8U << 20;
  // Recent events in memory, for watches.
  std::size_t recent_events = 65536;
  std::size_t recent_event_bytes = 32U << 20;
  // Recent states in memory, for snapshot_at (paging): their number, and the bytes only they keep
  // alive.
  std::size_t recent_snapshots = 1024;
  std::size_t recent_snapshot_bytes = 8U << 20;
  // RocksDB's memtable; the write-ahead log is about as large.
  std::size_t write_buffer_bytes = 16U << 20;
};

// Code::Unavailable when another process holds the directory, Code::Internal when its content is
// damaged or was written by a newer version; the message names the directory and, where known, the
// file.
Result<std::unique_ptr<Store>> open_rocksdb(OpenOptions options);

}  // namespace krater::storage
