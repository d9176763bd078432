#include "cli/certificate_duties.h"

#include "api/auth/certificate_request.h"

namespace krater::cli {
namespace {

Result<controllers::RequestedIdentity> read(const std::string& pem) {
  TRY_ASSIGN(api::RequestSubject request, api::read_request(pem));
  TRY_ASSIGN(api::AlternativeNames names, api::alternative_names(pem));
  controllers::RequestedIdentity out{std::move(request.subject.common_name),
                                     std::move(request.subject.organizations)};
  out.dns_names = std::move(names.dns);
  out.ip_addresses = std::move(names.addresses);
  out.mail_addresses = std::move(names.mail);
  out.uris = std::move(names.uris);
  return out;
}

}  // namespace

CertificateDuties certificate_duties(const api::CertificateAuthority& authority,
                                     const api::Authorizer& authorizer, Duration longest) {
  CertificateDuties out;
  out.approver.read = read;
  out.approver.may_create = [&authorizer](const controllers::Requester& who,
                                          std::string_view subresource) {
    const api::Identity identity{who.user, who.uid, who.groups, who.extra};
    api::Attributes what{"create"};
    what.group = "certificates.k8s.io";
    what.version = "v1";
    what.resource = "certificatesigningrequests";
    what.subresource = subresource;
    return authorizer.decide(identity, what).allowed;
  };
  out.signer.read = read;
  out.signer.sign = [&authority](const std::string& pem, const std::vector<std::string>& usages,
                                 WallTime from, WallTime until) {
    return api::sign_request(authority, pem, usages, {from, until});
  };
  out.signer.longest = longest;
  out.end_of = [](const std::string& pem) -> std::optional<WallTime> {
    const Result<api::Validity> validity = api::validity_of(pem);
    if (!validity) return std::nullopt;
    return validity->until;
  };
  return out;
}

}  // namespace krater::cli
