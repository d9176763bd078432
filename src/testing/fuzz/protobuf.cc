// Kubernetes protobuf bodies of a pod: decoded or refused; what is decoded can be encoded, and goes
// through the whole schema pipeline.
#include <cstdint>

#include "api/machinery/protobuf_encode.h"
#include "api/machinery/schema.h"
#include "base/check.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<krater::api::SchemaSet> schemas =
      krater::api::make_builtin_schemas();
  static const krater::api::KindSchemaPtr pods = schemas->find("", "v1", "pods");
  auto object = pods->decode_protobuf({reinterpret_cast<const char*>(data), size});
  if (!object || !object->is_object()) return 0;
  // Written again and read again it is the same.
  const std::string written = krater::api::protobuf_envelope(
      krater::text_at(*object, {"apiVersion"}), krater::text_at(*object, {"kind"}),
      krater::api::encode_protobuf_message(pods->root(), object->get_object()));
  const auto again = pods->decode_protobuf(written);
  CHECK_MSG(again && krater::with_sorted_keys(*again) == krater::with_sorted_keys(*object),
            krater::to_json(*object));
  (void)pods->prune(*object);
  if (!pods->check_types(*object)) return 0;
  pods->apply_defaults(*object);
  pods->canonicalize(*object);
  (void)pods->validate(*object, nullptr);
  return 0;
}
