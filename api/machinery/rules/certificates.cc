// Requests for certificates. Whether a request is one in truth is seen by whoever signs it.
#include <algorithm>
#include <array>
#include <set>

#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::array<std::string_view, 23> kUsages{"any",
                                                   "cert sign",
                                                   "client auth",
                                                   "code signing",
                                                   "content commitment",
                                                   "crl sign",
                                                   "data encipherment",
                                                   "decipher only",
                                                   "digital signature",
                                                   "email protection",
                                                   "encipher only",
                                                   "ipsec end system",
                                                   "ipsec tunnel",
                                                   "ipsec user",
                                                   "key agreement",
                                                   "key encipherment",
                                                   "microsoft sgc",
                                                   "netscape sgc",
                                                   "ocsp signing",
                                                   "s/mime",
                                                   "server auth",
                                                   "signing",
                                                   "timestamping"};
constexpr std::int64_t kShortest = 600;

void check_request(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const auto bytes = base64_decode(text_at(spec, {"request"}));
  if (bytes && bytes->find("-----BEGIN CERTIFICATE REQUEST-----") != std::string::npos) return;
  errors.invalid(path.field("request"), Json(text_at(spec, {"request"})),
                 "PEM block type must be CERTIFICATE REQUEST");
}

void check_usages(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const JsonArray* usages = array_at(spec, {"usages"});
  const FieldPath list = path.field("usages");
  std::set<std::string> seen;
  for (std::size_t i = 0; usages != nullptr && i < usages->size(); ++i) {
    const std::string usage =
        (*usages)[i].is_string() ? std::string(view((*usages)[i].get_string())) : "";
    if (std::ranges::find(kUsages, usage) == kUsages.end())
      errors.unsupported(list.index(i), usage, {kUsages.begin(), kUsages.end()});
    if (!seen.insert(usage).second) errors.duplicate(list.index(i), Json(usage));
  }
}

void check_signer(const Json& spec, const FieldPath& path, FieldErrors& errors) {
  const FieldPath here = path.field("signerName");
  const std::string name = text_at(spec, {"signerName"});
  if (name.empty()) return errors.required(here);
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || name.find('/', slash + 1) != std::string::npos) {
    errors.invalid(here, Json(name),
                   "must be a fully qualified domain and path of the form "
                   "'example.com/signer-name'");
    return;
  }
  const std::string domain = name.substr(0, slash);
  if (const std::string problem = check_dns1123_subdomain(domain); !problem.empty()) {
    errors.invalid(here, Json(domain), problem);
  } else if (domain.find('.') == std::string::npos) {
    errors.invalid(here, Json(domain),
                   "should be a domain with at least two segments separated by dots");
  }
  if (const std::string problem = check_dns1123_subdomain(name.substr(slash + 1)); !problem.empty())
    errors.invalid(here, Json(name), problem);
  if (name == "kubernetes.io/legacy-unknown") {
    errors.invalid(here, Json(name), "the legacy signerName is not allowed via this API version");
  }
}

std::set<std::string> types_of(const Json& request) {
  std::set<std::string> out;
  if (const JsonArray* conditions = array_at(request, {"status", "conditions"})) {
    for (const Json& condition : *conditions) out.insert(text_at(condition, {"type"}));
  }
  return out;
}

void check_conditions(const RuleInput& in, FieldErrors& errors) {
  const FieldPath status = in.path.field("status");
  const FieldPath list = status.field("conditions");
  const JsonArray* conditions = array_at(in.value, {"status", "conditions"});
  std::set<std::string> seen;
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const std::string type = text_at((*conditions)[i], {"type"});
    const std::string value = text_at((*conditions)[i], {"status"});
    const FieldPath here = list.index(i);
    if (type.empty()) errors.required(here.field("type"));
    const bool final = type == "Approved" || type == "Denied" || type == "Failed";
    if (value.empty()) {
      errors.required(here.field("status"));
    } else if (final && value != "True") {
      errors.unsupported(here.field("status"), value, {"True"});
    } else if (value != "True" && value != "False" && value != "Unknown") {
      errors.unsupported(here.field("status"), value, {"False", "True", "Unknown"});
    }
    if (!seen.insert(type).second) errors.duplicate(here.field("type"), Json(type));
  }
  if (seen.contains("Approved") && seen.contains("Denied"))
    errors.invalid(list, Json("Denied"), "Approved and Denied conditions are mutually exclusive");
  if (in.old == nullptr) return;
  for (const std::string& type : types_of(*in.old)) {
    const bool final = type == "Approved" || type == "Denied" || type == "Failed";
    if (final && !seen.contains(type)) {
      errors.forbidden(list, "updates may not remove a condition of type \"" + type + "\"");
    }
  }
  for (const std::string_view type : {"Approved", "Denied"}) {
    const std::string name(type);
    const std::set<std::string> before = types_of(*in.old);
    const bool decided = before.contains("Approved") || before.contains("Denied");
    if (seen.contains(name) && !before.contains(name) && decided) {
      errors.forbidden(list, "updates may not add a condition of type \"" + name + "\"");
    }
  }
}

}  // namespace

void certificate_signing_request(const RuleInput& in, FieldErrors& errors) {
  const FieldPath path = in.path.field("spec");
  const Json* given = find(in.value, {"spec"});
  const Json none((JsonObject()));
  const Json& spec = given == nullptr ? none : *given;
  if (in.old == nullptr) {
    check_request(spec, path, errors);
    check_usages(spec, path, errors);
    check_signer(spec, path, errors);
    const auto seconds = int_at(spec, {"expirationSeconds"});
    if (seconds && *seconds < kShortest) {
      errors.invalid(path.field("expirationSeconds"), Json(*seconds),
                     "may not specify a duration less than 600 seconds (10 minutes)");
    }
  }
  check_conditions(in, errors);
}

}  // namespace krater::api::rules
