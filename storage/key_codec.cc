#include "storage/key_codec.h"

namespace krater::storage {
namespace {

constexpr std::size_t kNumberBytes = 8;

void append_number(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

std::uint64_t read_number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, kNumberBytes)) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

std::uint64_t bits(Revision revision) {
  return static_cast<std::uint64_t>(revision.number());
}
Revision revision_of(std::uint64_t bits) {
  return Revision(static_cast<std::int64_t>(bits));
}

}  // namespace

std::string encode_number(std::int64_t number) {
  std::string out;
  append_number(out, static_cast<std::uint64_t>(number));
  return out;
}

std::optional<std::int64_t> decode_number(std::string_view bytes) {
  if (bytes.size() != kNumberBytes) return std::nullopt;
  return static_cast<std::int64_t>(read_number(bytes));
}

std::string data_key(std::string_view key, Revision revision) {
  std::string row;
  row.reserve(key.size() + 2 + kNumberBytes);
  row.push_back('d');
  row.append(key);
  row.push_back('\0');
  append_number(row, ~bits(revision));
  return row;
}

std::string data_seek(std::string_view key) {
  std::string row = "d";
  row.append(key);
  return row;
}

std::string data_seek_after(std::string_view key) {
  std::string row = data_seek(key);
  row.push_back('\1');  // above the NUL of every version, not above any longer key
  return row;
}

std::optional<DataKey> parse_data_key(std::string_view row) {
  if (row.size() < 2 + kNumberBytes || row.front() != 'd') return std::nullopt;
  const std::size_t separator = row.size() - kNumberBytes - 1;
  if (row[separator] != '\0') return std::nullopt;
  return DataKey{row.substr(1, separator - 1),
                 revision_of(~read_number(row.substr(separator + 1)))};
}

std::string log_key(Revision revision) {
  std::string row = "l";
  append_number(row, bits(revision));
  return row;
}

std::optional<Revision> parse_log_key(std::string_view row) {
  if (row.size() != 1 + kNumberBytes || row.front() != 'l') return std::nullopt;
  return revision_of(read_number(row.substr(1)));
}

std::string version_head(VersionKind kind, Revision created) {
  std::string head(1, static_cast<char>(kind));
  append_number(head, bits(created));
  return head;
}

std::optional<Version> parse_version(std::string_view bytes) {
  if (bytes.size() < 1 + kNumberBytes) return std::nullopt;
  const auto kind = static_cast<VersionKind>(bytes.front());
  if (kind != VersionKind::Put && kind != VersionKind::Deleted &&
      kind != VersionKind::DeletedWithValue) {
    return std::nullopt;
  }
  return Version{kind, revision_of(read_number(bytes.substr(1))), bytes.substr(1 + kNumberBytes)};
}

std::string log_value(const LogEntry& entry) {
  std::string row(1, static_cast<char>(entry.what));
  append_number(row, bits(entry.previous));
  row.append(entry.key);
  return row;
}

std::optional<LogEntry> parse_log_value(std::string_view bytes) {
  if (bytes.size() < 1 + kNumberBytes) return std::nullopt;
  const auto what = static_cast<LogEntry::What>(bytes.front());
  const LogEntry entry{what, revision_of(read_number(bytes.substr(1))),
                       bytes.substr(1 + kNumberBytes)};
  const bool write = what == LogEntry::What::Put || what == LogEntry::What::Delete;
  if (write ? entry.key.empty() : what != LogEntry::What::Jump) return std::nullopt;
  return entry;
}

}  // namespace krater::storage
