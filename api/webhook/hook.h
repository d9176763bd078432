// One webhook of a configuration, read once: what it is asked about, how it is reached, and what
// its silence means. Immutable, any thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/policy/compiled_policy.h"
#include "base/json.h"
#include "model/object.h"

namespace krater::api {

enum class HookKind { Mutating, Validating };

// As clientConfig.service says it.
struct HookService {
  std::string name_space, name;
  int port = 443;
  friend bool operator==(const HookService&, const HookService&) = default;
};

// Where a webhook is. A service's URL names it "<name>.<namespace>.svc", which is also what its
// certificate must be for.
struct HookAddress {
  std::string url;                       // https://host[:port]/path, without a query
  std::optional<HookService> service{};  // whose endpoints the URL's host stands for
  std::string ca_pem{};                  // empty: the system's authorities
  std::string problem{};                 // why there is none to speak to
};

struct Hook {
  HookKind kind = HookKind::Mutating;
  std::string configuration, name;
  std::string id;  // differs where anything differs: configuration's uid, revision, place in it
  std::string review_version;  // "v1", "v1beta1"; "": it understands none of these
  std::string side_effects;    // "None", "NoneOnDryRun", …
  bool fail = true;            // failurePolicy
  bool equivalent = true;      // matchPolicy
  bool reinvoke = false;       // reinvocationPolicy
  std::chrono::seconds timeout{10};
  Json rules;      // {"resourceRules": […]}
  Json selectors;  // {"namespaceSelector": …, "objectSelector": …}
  std::shared_ptr<const CompiledPolicy> conditions{};  // null: none
  HookAddress address;

  bool dry_runs() const { return side_effects == "None" || side_effects == "NoneOnDryRun"; }
};
using HookPtr = std::shared_ptr<const Hook>;

// The webhooks of one stored configuration, in its order.
std::vector<HookPtr> hooks_of(HookKind kind, const Object& configuration);

// clientConfig of a webhook: url or service, caBundle.
HookAddress read_address(const Json& client_config);

}  // namespace krater::api
