// First line: the object; the rest: a patch, of each type that takes it. Applied or refused; a
// merge patch applied twice is applied once, what two documents differ in turns one into the other,
// and what strategic merge makes of an object needs no second patch to be the same.
#include "api/machinery/patch.h"

#include <cstdint>

#include "api/machinery/schema.h"
#include "base/check.h"
#include "base/json.h"

namespace {

using krater::Json;

// A null in a list stays, one in an object is a removal: such documents are no merge's outcome.
bool has_null(const Json& value) {
  if (value.is_null()) return true;
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      if (has_null(member.value())) return true;
    }
  }
  return false;
}

bool is_directive(std::string_view key) {
  return key == "$patch" || key == "$retainKeys" || key.starts_with("$setElementOrder/") ||
         key.starts_with("$deleteFromPrimitiveList/");
}

bool has_directive(const Json& value) {
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      if (is_directive(member.key()) || has_directive(member.value())) return true;
    }
  } else if (const auto* array = value.if_array()) {
    for (const Json& item : *array) {
      if (has_directive(item)) return true;
    }
  }
  return false;
}

void check_merge(const Json& object, const Json& patch) {
  Json once = object;
  if (!krater::api::merge_patch(once, patch)) return;
  Json twice = once;
  CHECK(krater::api::merge_patch(twice, patch) && twice == once);
  if (has_null(object) || has_null(once)) return;
  Json turned = object;
  CHECK(krater::api::merge_patch(turned, krater::merge_difference(object, once)));
  CHECK_MSG(turned == once, krater::to_json(turned) + "\n" + krater::to_json(once));
}

void check_json_patch(const Json& object, const Json& patch) {
  Json changed = object;
  (void)krater::api::json_patch(changed, patch);
  const Json same =
      krater::JsonArray{krater::JsonObject{{"op", "test"}, {"path", ""}, {"value", object}},
                        krater::JsonObject{{"op", "replace"}, {"path", ""}, {"value", object}}};
  Json tested = object;
  CHECK(krater::api::json_patch(tested, same) && tested == object);
}

void check_strategic(const krater::api::KindSchema& schema, const Json& object, const Json& patch) {
  Json untouched = object;
  CHECK(schema.strategic_merge(untouched, krater::JsonObject()) && untouched == object);
  Json once = object;
  if (!schema.strategic_merge(once, patch)) return;
  Json again = object;
  CHECK(schema.strategic_merge(again, patch) && again == once);
  if (!has_directive(object)) CHECK_MSG(!has_directive(once), krater::to_json(once));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<krater::api::SchemaSet> schemas =
      krater::api::make_builtin_schemas();
  static const krater::api::KindSchemaPtr pods = schemas->find("", "v1", "pods");
  static const krater::api::KindSchemaPtr services = schemas->find("", "v1", "services");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto object = krater::parse_json(text.substr(0, end));
  const auto patch = krater::parse_json(text.substr(end + 1));
  if (!object || !patch || !object->is_object()) return 0;
  check_json_patch(*object, *patch);
  check_merge(*object, *patch);
  for (const auto* schema : {pods.get(), services.get()}) check_strategic(*schema, *object, *patch);
  return 0;
}
