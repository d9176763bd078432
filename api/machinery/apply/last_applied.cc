#include "api/machinery/apply/last_applied.h"

#include <string>

#include "api/machinery/apply/compare.h"

namespace krater::api {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kMaxAnnotationBytes = 262'144;

std::size_t annotation_bytes(const JsonObject& annotations) {
  std::size_t out = 0;
  for (const auto& entry : annotations) {
    out += entry.key().size();
    if (entry.value().is_string()) out += entry.value().get_string().size();
  }
  return out;
}

}  // namespace

FieldSet applied_by_client(const SchemaNode& root, const Json& live) {
  const auto text = string_at(live, {"metadata", "annotations", kLastApplied});
  if (!text) return {};
  const Result<Json> config = parse_json(*text);
  if (!config || !config->is_object()) return {};
  if (text_at(*config, {"apiVersion"}) != text_at(live, {"apiVersion"})) return {};
  const Comparison since = compare_fields(root, *config, live);
  return subtract(subtract(fields_of(root, *config), since.modified), since.removed);
}

void renew_last_applied(Json& object, const Json& config) {
  JsonObject* annotations = nullptr;
  if (Json* found = find(object, {"metadata", "annotations"})) annotations = found->if_object();
  if (annotations == nullptr || !annotations->contains(kLastApplied)) return;
  Json applied = config;
  erase_path(applied, {"metadata", "annotations", kLastApplied});
  (*annotations)[kLastApplied] = to_json(with_sorted_keys(applied)) + "\n";
  if (annotation_bytes(*annotations) > kMaxAnnotationBytes) annotations->erase(kLastApplied);
}

}  // namespace krater::api
