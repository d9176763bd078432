#include "api/machinery/wire.h"

namespace krater::api {

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size) {
  if (rest_.size() < size) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(size);
  return value;
}

Result<WireField> WireReader::next() {
  const Error broken = make_error(Code::BadRequest, "the request body is not valid protobuf");
  const auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return broken;
  WireField field;
  field.number = static_cast<int>(*tag >> 3);
  std::optional<std::uint64_t> value;
  switch (*tag & 7) {
    case 0:
      value = varint();
      break;
    case 1:
      field.type = WireType::Fixed64;
      value = fixed(8);
      break;
    case 2:
      field.type = WireType::Bytes;
      value = varint();
      if (!value || *value > rest_.size()) return broken;
      field.bytes = rest_.substr(0, static_cast<std::size_t>(*value));
      rest_.remove_prefix(static_cast<std::size_t>(*value));
      return field;
    case 5:
      field.type = WireType::Fixed32;
      value = fixed(4);
      break;
    default:
      return broken;  // groups are not in use
  }
  if (!value) return broken;
  field.value = *value;
  return field;
}

}  // namespace krater::api
