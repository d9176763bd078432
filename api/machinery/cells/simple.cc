// Kinds with short rows.
#include "api/machinery/cells/cells.h"

namespace krater::api::cells {
namespace {

std::int64_t entries(const Json& object, std::string_view field) {
  const JsonObject* map = object_at(object, {field});
  return map == nullptr ? 0 : static_cast<std::int64_t>(map->size());
}

}  // namespace

JsonArray name_space(const Json& object, WallTime now) {
  return {Json(name(object)), Json(text_at(object, {"status", "phase"})), Json(age(object, now))};
}

JsonArray config_map(const Json& object, WallTime now) {
  return {Json(name(object)), Json(entries(object, "data") + entries(object, "binaryData")),
          Json(age(object, now))};
}

JsonArray secret(const Json& object, WallTime now) {
  return {Json(name(object)), Json(text_at(object, {"type"})), Json(entries(object, "data")),
          Json(age(object, now))};
}

JsonArray service_account(const Json& object, WallTime now) {
  const JsonArray* secrets = array_at(object, {"secrets"});
  const auto count =
      secrets == nullptr ? std::int64_t{0} : static_cast<std::int64_t>(secrets->size());
  return {Json(name(object)), Json(count), Json(age(object, now))};
}

JsonArray lease(const Json& object, WallTime now) {
  return {Json(name(object)), Json(text_at(object, {"spec", "holderIdentity"})),
          Json(age(object, now))};
}

JsonArray priority_class(const Json& object, WallTime now) {
  return {Json(name(object)), Json(int_at(object, {"value"}).value_or(0)),
          Json(bool_at(object, {"globalDefault"}).value_or(false)), Json(age(object, now)),
          Json(text_at(object, {"preemptionPolicy"}))};
}

}  // namespace krater::api::cells
