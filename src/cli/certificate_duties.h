// What the controllers of certificate requests need of authority and authorizer, which outlive
// them.
#pragma once

#include "api/auth/authorizer.h"
#include "api/auth/pki.h"
#include "controllers/certificates/approver.h"
#include "controllers/certificates/cleaner.h"
#include "controllers/certificates/signer.h"

namespace krater::cli {

// Without `sign`: requests are left to others.
struct CertificateDuties {
  controllers::ApproverDeps approver;
  controllers::SignerDeps signer;
  controllers::CertificateEnd end_of;
};

CertificateDuties certificate_duties(const api::CertificateAuthority& authority,
                                     const api::Authorizer& authorizer, Duration longest);

}  // namespace krater::cli
