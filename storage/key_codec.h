// The layout on disk, as pure functions. Three tables share RocksDB's one key space, told apart by
// their first byte:
//
//   'd' key 00 ~revision   ->  kind created value   one row a version; newest first, for revisions
//   are complemented 'l' revision           ->  what previous key    the log: one row a revision
//   'm' name               ->  number               format, compacted, swept, reserved
//
// Numbers are 8 bytes, big endian. Keys hold no NUL, so every version of "a" lies before any
// version of "a!".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "storage/store.h"

namespace krater::storage {

inline constexpr std::int64_t kFormatVersion = 1;
inline constexpr std::string_view kMetaFormat = "mformat";
inline constexpr std::string_view kMetaCompacted =
    "mcompacted";  // history up to here is gone for readers
inline constexpr std::string_view kMetaReserved =
    "mreserved";  // relaxed writes may have used revisions up to here
inline constexpr std::string_view kMetaSwept = "mswept";  // and up to here has left the disk, too

// The tables' bounds, for iterators: [begin, end).
inline constexpr std::string_view kDataBegin = "d", kDataEnd = "e";
inline constexpr std::string_view kLogBegin = "l", kLogEnd = "m";

std::string encode_number(std::int64_t number);
std::optional<std::int64_t> decode_number(std::string_view bytes);

// The row of this version; for seeking, the first row at or after it is the newest version <=
// revision.
std::string data_key(std::string_view key, Revision revision);
// Where the rows of keys >= `key` begin, and where those of the first key after `key` do.
std::string data_seek(std::string_view key);
std::string data_seek_after(std::string_view key);
struct DataKey {
  std::string_view key;
  Revision revision;
};
std::optional<DataKey> parse_data_key(std::string_view row);

std::string log_key(Revision revision);
std::optional<Revision> parse_log_key(std::string_view row);

enum class VersionKind : char {
  Put = 'p',
  Deleted = 'd',           // the last value is the previous version's
  DeletedWithValue = 'D',  // the deletion carried its own last value
};
struct Version {
  VersionKind kind;
  Revision created;
  std::string_view value;
};
// What stands before the value's bytes.
std::string version_head(VersionKind kind, Revision created);
std::optional<Version> parse_version(std::string_view bytes);

struct LogEntry {
  // Jump: the revisions after `previous` and before this one were given out and lost in a crash.
  enum class What : char { Put = 'p', Delete = 'd', Jump = 'j' };
  What what;
  Revision previous;     // the version before; 0 for a creation
  std::string_view key;  // empty for a jump
};
std::string log_value(const LogEntry& entry);
std::optional<LogEntry> parse_log_value(std::string_view bytes);

}  // namespace krater::storage
