// Config maps and secrets.
#include <cstdint>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::size_t kMaxTotalBytes = 1024 * 1024;

// Checks the keys of one map and gives the bytes of its values.
std::size_t check_data(const Json& object, std::string_view field, bool encoded,
                       FieldErrors& errors) {
  const JsonObject* data = object_at(object, {field});
  if (data == nullptr) return 0;
  const FieldPath root;
  const FieldPath path = root.field(field);
  std::size_t bytes = 0;
  for (const auto& entry : *data) {
    const std::string_view key = entry.key();
    if (const std::string problem = check_data_key(key); !problem.empty()) {
      errors.invalid(path.key(key), Json(std::string(key)), problem);
    }
    if (!entry.value().is_string()) continue;
    const std::size_t size = entry.value().get_string().size();
    bytes += encoded ? size / 4 * 3 : size;
  }
  return bytes;
}

bool same_field(const Json& a, const Json& b, std::string_view field) {
  const Json* left = find(a, {field});
  const Json* right = find(b, {field});
  return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
}

void check_immutable(const RuleInput& in, std::initializer_list<std::string_view> fields,
                     FieldErrors& errors) {
  if (in.old == nullptr || !bool_at(*in.old, {"immutable"}).value_or(false)) return;
  const FieldPath root;
  if (!bool_at(in.value, {"immutable"}).value_or(false)) {
    errors.forbidden(root.field("immutable"), "field is immutable when `immutable` is set");
  }
  for (std::string_view field : fields) {
    if (!same_field(in.value, *in.old, field)) {
      errors.forbidden(root.field(field), "field is immutable when `immutable` is set");
    }
  }
}

}  // namespace

void config_map(const RuleInput& in, FieldErrors& errors) {
  const FieldPath root;
  const std::size_t text_bytes = check_data(in.value, "data", false, errors);
  const std::size_t binary_bytes = check_data(in.value, "binaryData", true, errors);
  if (text_bytes + binary_bytes > kMaxTotalBytes) {
    errors.too_long(root.field(text_bytes < binary_bytes ? "binaryData" : "data"), kMaxTotalBytes);
  }
  const JsonObject* data = object_at(in.value, {"data"});
  const JsonObject* binary = object_at(in.value, {"binaryData"});
  if (data != nullptr && binary != nullptr) {
    for (const auto& entry : *binary) {
      if (data->if_contains(entry.key()) == nullptr) continue;
      const std::string_view key = entry.key();
      const FieldPath list = root.field("data");
      errors.invalid(list.key(key), Json(std::string(key)),
                     "duplicate of key present in binaryData");
    }
  }
  check_immutable(in, {"data", "binaryData"}, errors);
}

void secret(const RuleInput& in, FieldErrors& errors) {
  const FieldPath root;
  const FieldPath data = root.field("data");
  if (check_data(in.value, "data", true, errors) > kMaxTotalBytes)
    errors.too_long(data, kMaxTotalBytes);
  const std::string type = text_at(in.value, {"type"});
  const auto need = [&](std::string_view key) {
    if (find(in.value, {"data", key}) == nullptr) errors.required(data.key(key));
  };
  if (type == "kubernetes.io/dockerconfigjson") need(".dockerconfigjson");
  if (type == "kubernetes.io/dockercfg") need(".dockercfg");
  if (type == "kubernetes.io/ssh-auth") need("ssh-privatekey");
  if (type == "kubernetes.io/tls") {
    need("tls.crt");
    need("tls.key");
  }
  if (type == "kubernetes.io/service-account-token" &&
      text_at(in.value, {"metadata", "annotations", "kubernetes.io/service-account.name"})
          .empty()) {
    errors.required(
        root.field("metadata").field("annotations").key("kubernetes.io/service-account.name"));
  }
  check_immutable(in, {"data"}, errors);
}

}  // namespace krater::api::rules
