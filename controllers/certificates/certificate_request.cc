#include "controllers/certificates/certificate_request.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "model/condition.h"

namespace krater::controllers {
namespace {

using Words = std::set<std::string, std::less<>>;

Words as_set(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

// Exactly these, where RSA keys need one more.
std::string usages_problem(const std::vector<std::string>& usages, const std::string& purpose) {
  const Words wanted{"digital signature", purpose};
  const Words with_rsa{"digital signature", "key encipherment", purpose};
  const Words given = as_set(usages);
  if (given == wanted || given == with_rsa) return {};
  return "usages did not match [" + join({with_rsa.begin(), with_rsa.end()}, " ") + "]";
}

constexpr std::string_view kNotNodes = "subject organization is not system:nodes";
constexpr std::string_view kNotNode = "subject common name does not begin with system:node:";

bool of_nodes(const RequestedIdentity& wanted) {
  return wanted.organizations == std::vector<std::string>{"system:nodes"};
}

std::string node_client_problem(const RequestedIdentity& wanted,
                                const std::vector<std::string>& usages) {
  if (!of_nodes(wanted)) return std::string(kNotNodes);
  if (!wanted.dns_names.empty()) return "DNS subjectAltNames are not allowed";
  if (!wanted.mail_addresses.empty()) return "Email subjectAltNames are not allowed";
  if (!wanted.ip_addresses.empty()) return "IP subjectAltNames are not allowed";
  if (!wanted.uris.empty()) return "URI subjectAltNames are not allowed";
  if (!wanted.common_name.starts_with("system:node:")) return std::string(kNotNode);
  return usages_problem(usages, "client auth");
}

std::string node_serving_problem(const RequestedIdentity& wanted,
                                 const std::vector<std::string>& usages) {
  if (!of_nodes(wanted)) return std::string(kNotNodes);
  if (wanted.dns_names.empty() && wanted.ip_addresses.empty())
    return "DNS or IP subjectAltName is required";
  if (!wanted.mail_addresses.empty()) return "Email subjectAltNames are not allowed";
  if (!wanted.uris.empty()) return "URI subjectAltNames are not allowed";
  if (std::string problem = usages_problem(usages, "server auth"); !problem.empty()) return problem;
  return wanted.common_name.starts_with("system:node:") ? "" : std::string(kNotNode);
}

std::string client_problem(const std::vector<std::string>& usages) {
  bool client = false;
  for (const std::string& usage : usages) {
    if (usage == "client auth") {
      client = true;
    } else if (usage != "digital signature" && usage != "key encipherment") {
      return "invalid usage for client certificate: " + usage;
    }
  }
  return client ? "" : "missing required usage for client certificate: client auth";
}

}  // namespace

const Kind kCertificateRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                               "certificatesigningrequests", false};

std::string CertificateRequestView::pem() const {
  return base64_decode(text_at(object_.document(), {"spec", "request"})).value_or("");
}

std::vector<std::string> CertificateRequestView::usages() const {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(object_.document(), {"spec", "usages"})) {
    for (const Json& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

std::string CertificateRequestView::certificate() const {
  return base64_decode(text_at(object_.document(), {"status", "certificate"})).value_or("");
}

bool CertificateRequestView::has(std::string_view condition) const {
  return condition_of(object_.document(), condition).has_value();
}

PlannedWrite CertificateRequestView::with_condition(std::string_view type, std::string_view reason,
                                                    std::string message, std::string subresource,
                                                    WallTime now) const {
  JsonArray conditions;
  if (const JsonArray* before = array_at(object_.document(), {"status", "conditions"}))
    conditions = *before;
  conditions.push_back(JsonObject{{"type", type},
                                  {"status", "True"},
                                  {"reason", reason},
                                  {"message", std::move(message)},
                                  {"lastUpdateTime", to_rfc3339(now)},
                                  {"lastTransitionTime", to_rfc3339(now)}});
  client::PatchWrite write{
      kCertificateRequest,
      "",
      object_->name(),
      client::PatchType::Merge,
      JsonObject{{"status", JsonObject{{"conditions", std::move(conditions)}}}},
      std::move(subresource)};
  write.only_if = object_->revision();
  return {std::move(write), {}, {}, {}};
}

std::string problem_for(std::string_view signer, const RequestedIdentity& wanted,
                        const std::vector<std::string>& usages) {
  if (signer == kNodeClientSigner) return node_client_problem(wanted, usages);
  if (signer == kNodeServingSigner) return node_serving_problem(wanted, usages);
  if (signer == kClientSigner) return client_problem(usages);
  // Whoever approves such a request answers for it.
  if (signer == kLegacySigner) return {};
  return "signer \"" + std::string(signer) + "\" is not one of the cluster's own";
}

}  // namespace krater::controllers
