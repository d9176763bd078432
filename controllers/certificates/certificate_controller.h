// One pass over a CertificateSigningRequest of the cluster's own signers: approved where that needs
// nobody's judgement, signed when it is approved, taken away when it has served. Pure but for the
// signing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/object.h"

namespace krater::controllers {

inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";
inline constexpr std::string_view kNodeClientSigner = "kubernetes.io/kube-apiserver-client-kubelet";

// What stands in the PKCS#10 request itself.
struct RequestedIdentity {
  std::string common_name;
  std::vector<std::string> organizations{};
  bool alternative_names = false;
};

struct Signer {
  // Code::BadRequest for what is no request, or not signed by its own key.
  std::function<Result<RequestedIdentity>(const std::string& request_pem)> read;
  // A client certificate in PEM, for the identity that stands in the request.
  std::function<Result<std::string>(const std::string& request_pem, const RequestedIdentity& who,
                                    WallTime from, WallTime until)>
      sign;
};

Plan certificate_step(const ObjectView& request, const Signer& signer, WallTime now);
std::unique_ptr<Reconciler> make_certificate_controller(Signer signer);

}  // namespace krater::controllers
