#include "agent/content/downward.h"

#include "base/go_quote.h"
#include "base/quantity.h"

namespace krater::agent {
namespace {

std::string map_text(const Labels& map) {
  std::string out;
  for (const auto& [key, value] : map)
    out += (out.empty() ? "" : "\n") + key + "=" + go_quoted(value);
  return out;
}

// "metadata.labels['a/b']" -> "a/b".
std::optional<std::string_view> subscript(std::string_view path, std::string_view field) {
  if (!path.starts_with(field)) return std::nullopt;
  path.remove_prefix(field.size());
  if (path.size() < 4 || !path.starts_with("['") || !path.ends_with("']")) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

const Json* container_named(const Json& pod, std::string_view name) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    const JsonArray* containers = array_at(pod, {"spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      if (text_at((*containers)[i], {"name"}) == name) return &(*containers)[i];
    }
  }
  return nullptr;
}

std::string divided(std::int64_t amount, std::int64_t divisor) {
  if (divisor <= 0) divisor = 1;
  return std::to_string(amount / divisor + (amount % divisor > 0 ? 1 : 0));
}

std::int64_t node_amount(const NodeFacts& node, std::string_view name) {
  if (name == "cpu") return node.cpu_milli;
  if (name == "memory") return node.memory_bytes;
  return node.ephemeral_bytes;
}

}  // namespace

Result<std::string> field_value(std::string_view path, const PodFacts& pod) {
  for (const std::string_view field : {"labels", "annotations"}) {
    const std::string prefix = "metadata." + std::string(field);
    const Labels map = string_map(find(pod.document, {"metadata", field}));
    if (path == prefix) return map_text(map);
    if (const auto key = subscript(path, prefix)) {
      const auto place = map.find(*key);
      return place == map.end() ? std::string() : place->second;
    }
  }
  if (path == "metadata.name") return text_at(pod.document, {"metadata", "name"});
  if (path == "metadata.namespace") return text_at(pod.document, {"metadata", "namespace"});
  if (path == "metadata.uid") return text_at(pod.document, {"metadata", "uid"});
  if (path == "spec.nodeName") return text_at(pod.document, {"spec", "nodeName"});
  if (path == "spec.serviceAccountName")
    return text_at(pod.document, {"spec", "serviceAccountName"});
  if (path == "status.podIP" || path == "status.podIPs") return pod.pod_ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return pod.host_ip;
  return make_error(Code::Invalid, "unsupported fieldPath: " + std::string(path));
}

Result<std::string> resource_value(const Json& reference, const Json& container,
                                   const PodFacts& pod) {
  const std::string other = text_at(reference, {"containerName"});
  const Json* about = other.empty() ? &container : container_named(pod.document, other);
  if (about == nullptr)
    return make_error(Code::Invalid,
                      "container " + other + " of a resourceFieldRef is not in the pod");
  const std::string resource = text_at(reference, {"resource"});
  const std::size_t dot = resource.find('.');
  const std::string list = resource.substr(0, dot),
                    name = dot == std::string::npos ? "" : resource.substr(dot + 1);
  if ((list != "limits" && list != "requests") || name.empty()) {
    return make_error(Code::Invalid, "unsupported container resource: " + resource);
  }
  Quantity divisor = Quantity::from_value(1);
  if (const auto text = string_at(reference, {"divisor"}); text && *text != "0") {
    TRY_ASSIGN(divisor, Quantity::parse(*text));
    if (divisor.is_zero()) divisor = Quantity::from_value(1);
  }
  const bool cpu = name == "cpu";
  const auto amount_of = [&](std::string_view which) -> Result<std::optional<std::int64_t>> {
    const auto text = string_at(*about, {"resources", which, name});
    if (!text) return std::optional<std::int64_t>();
    TRY_ASSIGN(const Quantity amount, Quantity::parse(*text));
    return std::optional(cpu ? amount.milli_value() : amount.value());
  };
  TRY_ASSIGN(std::optional<std::int64_t> amount, amount_of(list));
  if (!amount && list == "requests") {
    TRY_ASSIGN(amount, amount_of("limits"));
  }
  if (!amount) amount = list == "limits" ? node_amount(pod.node, name) : 0;
  return divided(*amount, cpu ? divisor.milli_value() : divisor.value());
}

}  // namespace krater::agent
