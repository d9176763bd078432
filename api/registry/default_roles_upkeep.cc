#include "api/registry/default_roles_upkeep.h"

#include <optional>

#include "api/auth/rbac/reconcile.h"
#include "model/rbac_kinds.h"

namespace krater::api {

std::vector<client::Write> upkeep_of(const client::CreateWrite& wanted, const Object& stored) {
  const std::shared_ptr<const Json> existing = stored.document();
  std::optional<Reconciled> change;
  if (wanted.kind == kinds::kClusterRole) change = reconciled_role(*existing, wanted.object);
  if (wanted.kind == kinds::kClusterRoleBinding)
    change = reconciled_binding(*existing, wanted.object);
  std::vector<client::Write> out;
  if (!change) return out;
  if (change->recreate) {
    out.push_back(client::DeleteWrite{wanted.kind, "", stored.name()});
    out.push_back(wanted);
  } else {
    out.push_back(client::UpdateWrite{wanted.kind, "", stored.name(), std::move(change->object)});
  }
  return out;
}

}  // namespace krater::api
