// Approves what needs nobody's judgement: the first certificate of a node, and the renewal of one,
// where whoever asks may `create` certificatesigningrequests/nodeclient or /selfnodeclient. What he
// may not stays for people to decide, and is asked about again.
#pragma once

#include <memory>

#include "controllers/certificates/certificate_request.h"

namespace krater::controllers {

// Who created a request, as the API server noted it.
struct Requester {
  std::string user, uid;
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
};

struct ApproverDeps {
  ReadRequest read;
  // A SubjectAccessReview: may he create this subresource of certificatesigningrequests?
  std::function<bool(const Requester& who, std::string_view subresource)> may_create;
};

Plan approve_step(const ObjectView& request, const ApproverDeps& deps, WallTime now);
std::unique_ptr<Reconciler> make_certificate_approver(ApproverDeps deps);

}  // namespace krater::controllers
