// Secrets: stringData is how people write them, data is how they are kept.
#include "api/admission/rules.h"
#include "base/strings.h"

namespace krater::api {

Result<void> mutate_secret(Admission& admission) {
  Json& secret = admission.object;
  if (const JsonObject* plain = object_at(secret, {"stringData"})) {
    const JsonObject copy = *plain;
    for (const auto& entry : copy) {
      if (!entry.value().is_string()) continue;
      const std::string_view key(entry.key().data(), entry.key().size());
      set_path(secret, {"data", key}, Json(base64_encode(view(entry.value().get_string()))));
    }
  }
  erase_path(secret, {"stringData"});
  return {};
}

}  // namespace krater::api
