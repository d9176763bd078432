#include "api/server/certificates.h"

#include "api/auth/pki.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::string_view kGroup = "certificates.k8s.io";
constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";

Error refused(std::string why) {
  return make_error(Code::Forbidden, std::move(why));
}

// On the signer itself, or on all of its domain.
bool may(const Deps& deps, const Identity& who, std::string_view verb, const std::string& signer) {
  Attributes what{std::string(verb)};
  what.group = kGroup;
  what.version = "v1";
  what.resource = "signers";
  what.name = signer;
  if (deps.authorizer.decide(who, what).allowed) return true;
  what.name = signer.substr(0, signer.find('/')) + "/*";
  return deps.authorizer.decide(who, what).allowed;
}

Result<void> check_creation(const Identity& who, const Json& request) {
  Json named = request;
  name_requester(who, named);
  if (find(named, {"spec"}) != nullptr && *find(named, {"spec"}) != *find(request, {"spec"}))
    return refused("the requester of a certificate is whoever creates the request");
  if (text_at(request, {"spec", "signerName"}) != kClientSigner) return {};
  const auto pem = base64_decode(text_at(request, {"spec", "request"}));
  const Result<RequestSubject> asked = read_request(pem.value_or(""));
  if (!asked) return {};  // its signer says so
  for (const std::string& group : asked->subject.organizations) {
    if (group == kMastersGroup) {
      return refused("use of " + std::string(kClientSigner) + " signer with " + group +
                     " group is not allowed");
    }
  }
  return {};
}

}  // namespace

bool is_certificate_request(const Exchange& x) {
  return x.path.group == kGroup && x.path.resource == "certificatesigningrequests";
}

void name_requester(const Identity& who, Json& request) {
  const Json info = user_info(who);
  for (const std::string_view field : {"username", "uid", "groups", "extra"}) {
    if (const Json* value = find(info, {field})) {
      set_path(request, {"spec", field}, *value);
    } else {
      erase_path(request, {"spec", field});
    }
  }
}

void guard_certificates(const Deps& deps, const Exchange& x, RequestInfo& info) {
  if (!is_certificate_request(x)) return;
  info.permit = [&deps, who = x.who, door = x.path.subresource](const Kind&, const Json& object,
                                                                const Json* old) -> Result<void> {
    if (old == nullptr) return check_creation(who, object);
    const std::string signer = text_at(*old, {"spec", "signerName"});
    if (door == "approval" && !may(deps, who, "approve", signer))
      return refused("user not permitted to approve requests with signerName \"" + signer + "\"");
    const bool signs =
        text_at(object, {"status", "certificate"}) != text_at(*old, {"status", "certificate"});
    if (door == "status" && signs && !may(deps, who, "sign", signer))
      return refused("user not permitted to sign requests with signerName \"" + signer + "\"");
    return {};
  };
}

}  // namespace krater::api
