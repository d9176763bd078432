// A CertificateSigningRequest as the controllers of the cluster's own signers see it, and what each
// signer asks of a request. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/object.h"

namespace krater::controllers {

inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";
inline constexpr std::string_view kNodeClientSigner = "kubernetes.io/kube-apiserver-client-kubelet";
inline constexpr std::string_view kNodeServingSigner = "kubernetes.io/kubelet-serving";
inline constexpr std::string_view kLegacySigner = "kubernetes.io/legacy-unknown";

extern const Kind kCertificateRequest;

// What stands in the PKCS#10 request itself.
struct RequestedIdentity {
  std::string common_name;
  std::vector<std::string> organizations{};
  std::vector<std::string> dns_names{}, ip_addresses{}, mail_addresses{}, uris{};
};

// Code::BadRequest for what is no request, or not signed by its own key.
using ReadRequest = std::function<Result<RequestedIdentity>(const std::string& request_pem)>;

class CertificateRequestView {
 public:
  explicit CertificateRequestView(const ObjectView& object) : object_(object) {}

  const ObjectView& object() const { return object_; }
  std::string signer() const { return text_at(object_.document(), {"spec", "signerName"}); }
  std::string pem() const;
  std::vector<std::string> usages() const;
  std::string certificate() const;  // PEM; empty: none yet
  bool has(std::string_view condition) const;

  // The whole list of conditions, with one more.
  PlannedWrite with_condition(std::string_view type, std::string_view reason, std::string message,
                              std::string subresource, WallTime now) const;

 private:
  const ObjectView& object_;
};

// Why a signer does not take the request, in Kubernetes' words; empty: it does. Other signers than
// the four above take nothing.
std::string problem_for(std::string_view signer, const RequestedIdentity& wanted,
                        const std::vector<std::string>& usages);

}  // namespace krater::controllers
