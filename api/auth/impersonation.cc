#include "api/auth/impersonation.h"

#include "base/strings.h"

namespace krater::api {
namespace {

Attributes impersonating(std::string_view group, std::string_view resource, std::string_view name) {
  Attributes out{"impersonate"};
  out.group = group;
  out.version = "v1";
  out.resource = resource;
  out.name = name;
  return out;
}

// The namespace and name of a service account's user.
std::optional<std::pair<std::string, std::string>> service_account(std::string_view user) {
  if (!user.starts_with(kServiceAccountPrefix)) return std::nullopt;
  const std::vector<std::string_view> parts = split(user.substr(kServiceAccountPrefix.size()), ':');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return std::nullopt;
  return std::pair(std::string(parts[0]), std::string(parts[1]));
}

// Everything that must be allowed, in the order it is asked.
std::vector<Attributes> questions(const Impersonation& wanted) {
  std::vector<Attributes> out;
  if (const auto account = service_account(wanted.user)) {
    out.push_back(impersonating("", "serviceaccounts", account->second));
    out.back().name_space = account->first;
  } else {
    out.push_back(impersonating("", "users", wanted.user));
  }
  for (const std::string& group : wanted.groups) out.push_back(impersonating("", "groups", group));
  if (!wanted.uid.empty())
    out.push_back(impersonating("authentication.k8s.io", "uids", wanted.uid));
  for (const auto& [key, values] : wanted.extra) {
    for (const std::string& value : values) {
      out.push_back(impersonating("authentication.k8s.io", "userextras", value));
      out.back().subresource = key;
    }
  }
  return out;
}

}  // namespace

Result<Identity> impersonate(const Authorizer& authorizer, const Identity& who,
                             const Impersonation& wanted) {
  if (wanted.user.empty()) {
    return make_error(Code::BadRequest,
                      "requested uid, groups or extra to impersonate without impersonating a user");
  }
  for (const Attributes& what : questions(wanted)) {
    const Authorizer::Verdict verdict = authorizer.decide(who, what);
    if (!verdict.allowed) return refusal(who, what, verdict.reason);
  }
  Identity out{wanted.user, wanted.uid, wanted.groups, wanted.extra};
  if (const auto account = service_account(wanted.user); account && out.groups.empty())
    out.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->first};
  const bool anonymous = wanted.user == "system:anonymous";
  const std::string_view group = anonymous ? kUnauthenticatedGroup : kAuthenticatedGroup;
  if (!out.in(group) && !out.in(kUnauthenticatedGroup)) out.groups.emplace_back(group);
  return out;
}

}  // namespace krater::api
