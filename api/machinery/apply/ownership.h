// Server-side apply: how ownership of fields follows from writes. Upstream's rules (sigs.k8s.io
// structured-merge-diff and apimachinery's managedfields), on documents of one version. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/machinery/apply/managers.h"
#include "api/machinery/schema.h"
#include "api/machinery/schema_node.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace krater::api {

// Who writes, by which door.
struct FieldWriter {
  std::string manager;
  std::string subresource{};  // "" or "status"
  WallTime now;
};

// The schema of one kind, as far as ownership goes.
struct OwnedKind {
  const SchemaNode& root;
  std::string api_version;
  bool native = false;
  bool has_status = false;  // a status subresource: the main door does not touch status
};
OwnedKind owned_kind(const KindSchema& schema);

// Every write but an apply: what it adds or changes belongs to the writer and to nobody else, what
// it removes to nobody. `before` null: a creation. False when it changed nothing that is owned.
bool record_update(const OwnedKind& kind, const Json* before, const Json& after,
                   const FieldWriter& writer, FieldManagers& managers);

// An object nobody has tracked so far belongs to "before-first-apply" from its first apply on.
void adopt_untracked(const OwnedKind& kind, const Json& live, WallTime now,
                     FieldManagers& managers);

struct Applied {
  Json object;  // not defaulted; null members are to be taken away
  FieldManagers managers;
};
// An apply of `config`, checked by check_configuration(), to `live` (an object with nothing but
// metadata for one that is not there). Code::Conflict with a cause for each field that others own
// with another value, unless forced. The manager "kubectl" may take over silently what client-side
// apply set last.
Result<Applied> apply_configuration(const OwnedKind& kind, const Json& live, const Json& config,
                                    const FieldWriter& writer, bool force, FieldManagers managers);

}  // namespace krater::api
