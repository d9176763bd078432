// Signs what is approved, when it is what its signer stands for; else says in a condition why not.
#pragma once

#include <memory>

#include "controllers/certificates/certificate_request.h"

namespace krater::controllers {

struct SignerDeps {
  ReadRequest read;
  // A certificate in PEM, as the request asks for it.
  std::function<Result<std::string>(const std::string& request_pem,
                                    const std::vector<std::string>& usages, WallTime from,
                                    WallTime until)>
      sign;
  // How long a certificate is good for at most (--cluster-signing-duration).
  Duration longest = std::chrono::hours(24 * 365);
};

Plan sign_step(const ObjectView& request, const SignerDeps& deps, WallTime now);
std::unique_ptr<Reconciler> make_certificate_signer(SignerDeps deps);

}  // namespace krater::controllers
