// Kubernetes protobuf bodies of a pod: decoded or refused; what is decoded goes through the whole
// schema pipeline.
#include <cstdint>

#include "api/machinery/schema.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<krater::api::SchemaSet> schemas =
      krater::api::make_builtin_schemas();
  static const krater::api::KindSchemaPtr pods = schemas->find("", "v1", "pods");
  auto object = pods->decode_protobuf({reinterpret_cast<const char*>(data), size});
  if (!object || !object->is_object()) return 0;
  (void)pods->prune(*object);
  if (!pods->check_types(*object)) return 0;
  pods->apply_defaults(*object);
  pods->canonicalize(*object);
  (void)pods->validate(*object, nullptr);
  return 0;
}
