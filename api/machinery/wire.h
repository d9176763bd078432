// The wire format of protobuf: a reader over bytes that are not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace krater::api {

enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  int number = 0;
  WireType type = WireType::Varint;
  std::uint64_t value = 0;  // of a varint or a fixed number
  std::string_view bytes;   // of a length-delimited field; points into the input
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  // Code::BadRequest when the bytes are not protobuf. Not to be called when done.
  Result<WireField> next();
  // A bare varint, as in packed lists.
  std::optional<std::uint64_t> varint();

 private:
  std::optional<std::uint64_t> fixed(std::size_t size);

  std::string_view rest_;
};

}  // namespace krater::api
