#include "controllers/ray/names.h"

#include <cctype>

#include "base/strings.h"

namespace krater::controllers {
namespace {

std::string pod_base(std::string_view prefix, std::string_view type) {
  return to_lower(std::string(prefix.substr(0, 50)) + "-" + std::string(type));
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string out(text.size() > 63 ? text.substr(text.size() - 63) : text);
  if (!out.empty() && std::ispunct(static_cast<unsigned char>(out.front())) != 0) out.front() = 'r';
  return out;
}

std::string head_pod_base(std::string_view cluster) {
  return pod_base(cluster, "head");
}
std::string worker_pod_base(std::string_view cluster, std::string_view group) {
  return pod_base(std::string(cluster) + "-" + std::string(group), "worker");
}

std::string head_service_name(std::string_view cluster, const RayClusterSpec& spec) {
  if (const Json* service = spec.head().head_service()) {
    if (std::string name = text_at(*service, {"metadata", "name"}); !name.empty()) return name;
  }
  return std::string(cluster) + "-head-svc";
}

std::string service_fqdn(std::string_view service, std::string_view name_space,
                         std::string_view cluster_domain) {
  return std::string(service) + "." + std::string(name_space) + ".svc." +
         std::string(cluster_domain);
}

std::string suffix_of(std::string_view seed) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::uint64_t rest = fnv1a(seed);
  rest ^= rest >> 32;  // the low half alone would waste what the high half knows
  std::string out;
  for (int i = 0; i < 5; ++i) {
    out += kAlphabet[rest % kAlphabet.size()];
    rest /= kAlphabet.size();
  }
  return out;
}

}  // namespace krater::controllers
