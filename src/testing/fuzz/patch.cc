// First line: the object; the rest: a patch. All three kinds of patch are tried; none may crash or
// hang.
#include "api/machinery/patch.h"

#include <cstdint>

#include "api/machinery/schema.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<krater::api::SchemaSet> schemas =
      krater::api::make_builtin_schemas();
  static const krater::api::KindSchemaPtr pods = schemas->find("", "v1", "pods");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto object = krater::parse_json(text.substr(0, end));
  const auto patch = krater::parse_json(text.substr(end + 1));
  if (!object || !patch || !object->is_object()) return 0;
  krater::Json one = *object, two = *object, three = *object;
  (void)krater::api::json_patch(one, *patch);
  (void)krater::api::merge_patch(two, *patch);
  (void)pods->strategic_merge(three, *patch);
  return 0;
}
