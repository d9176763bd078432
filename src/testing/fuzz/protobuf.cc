// Kubernetes protobuf bodies of every kind (the first byte chooses) and of the messages that are no
// kinds: decoded or refused; what is decoded is encoded and read again as it was, and keeps what
// holds of every object.
#include <cstdint>

#include "api/machinery/protobuf_encode.h"
#include "api/machinery/schema.h"
#include "api/machinery/testing/laws.h"
#include "base/check.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace api = krater::api;
  static const std::unique_ptr<api::SchemaSet> schemas = api::make_builtin_schemas();
  static const std::vector<api::KindSchemaPtr> kinds = [] {
    std::vector<api::KindSchemaPtr> out = schemas->all();
    std::erase_if(out, [](const api::KindSchemaPtr& kind) { return !kind->built_in(); });
    return out;
  }();
  if (size == 0) return 0;
  const api::KindSchema& schema = *kinds[data[0] % kinds.size()];
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)schemas->decode_protobuf_message("", body);
  const auto object = schema.decode_protobuf(body);
  if (!object || !object->is_object()) return 0;
  const std::string written = api::protobuf_envelope(
      krater::text_at(*object, {"apiVersion"}), krater::text_at(*object, {"kind"}),
      api::encode_protobuf_message(schema.root(), object->get_object()));
  const auto again = schema.decode_protobuf(written);
  CHECK_MSG(again && krater::with_sorted_keys(*again) == krater::with_sorted_keys(*object),
            krater::to_json(*object) +
                "\nagain: " + (again ? krater::to_json(*again) : again.error().message));
  const std::string broken = api::testing::broken_law(schema, *object);
  CHECK_MSG(broken.empty(), broken);
  return 0;
}
