// The wire format of protobuf: a reader over bytes that are not trusted, and a writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

class WireWriter {
 public:
  void number(int field, std::uint64_t value) {
    tag(field, WireType::Varint);
    varint(value);
  }
  void fixed64(int field, std::uint64_t value) {
    tag(field, WireType::Fixed64);
    for (int i = 0; i < 8; ++i) out_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void bytes(int field, std::string_view value) {
    tag(field, WireType::Bytes);
    varint(value.size());
    out_ += value;
  }
  std::string take() { return std::exchange(out_, {}); }

 private:
  void tag(int field, WireType type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string out_;
};

}  // namespace krater::api
