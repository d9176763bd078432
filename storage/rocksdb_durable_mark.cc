#include "storage/rocksdb_durable_mark.h"

#include <rocksdb/env.h>

#include <string_view>

#include "base/log.h"
#include "base/strings.h"
#include "storage/key_codec.h"

namespace krater::storage {
namespace {

constexpr std::size_t kNumberBytes = 8;

// The number and its checksum: a mark that was half written is no mark.
std::string encode(Revision revision) {
  const std::string number = encode_number(revision.number());
  return number + encode_number(static_cast<std::int64_t>(fnv1a(number)));
}

Revision decode(std::string_view bytes) {
  const auto number = decode_number(bytes.substr(0, kNumberBytes));
  return number && encode(Revision(*number)) == bytes ? Revision(*number) : Revision();
}

}  // namespace

Result<std::unique_ptr<DurableMark>> DurableMark::open(rocksdb::Env& env,
                                                       const std::string& directory) {
  const std::string path = directory + "/DURABLE";
  auto mark = std::unique_ptr<DurableMark>(new DurableMark());
  std::string bytes;
  rocksdb::Status status = rocksdb::ReadFileToString(&env, path, &bytes);
  if (status.ok()) {
    mark->at_open_ = decode(bytes);
  } else {
    status = rocksdb::WriteStringToFile(&env, encode(Revision()), path);
  }
  if (status.ok()) status = env.NewRandomRWFile(path, &mark->file_, rocksdb::EnvOptions());
  if (!status.ok()) return make_error(Code::Internal, path + ": " + status.ToString());
  return mark;
}

DurableMark::~DurableMark() = default;

void DurableMark::advance(Revision revision) {
  // Losing a mark costs a check, not data.
  const rocksdb::Status status = file_->Write(0, encode(revision));
  if (!status.ok()) log::warn("store.durable_mark", {{"error", status.ToString()}});
}

}  // namespace krater::storage
