// Versions of a template as ControllerRevisions: which one is asked for, which one is in force, and
// which are no longer needed. Their data is a patch that brings the owner's template back, which is
// what `kubectl rollout undo` sends. Pure.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/workload.h"

namespace krater::controllers {

struct TemplateRevision {
  std::string name, hash;
  std::int64_t number = 0;
  Json pod_template{};
};

struct Revisions {
  TemplateRevision update;   // of the template that is asked for
  TemplateRevision current;  // the one in force until the update is complete
  std::int64_t collisions = 0;
  std::optional<PlannedWrite> write{};  // makes the update's revision, or renews its number
};

struct RevisionsSeen {
  const WorkloadView& owner;
  std::string_view hash_label;   // of the revisions
  std::vector<ObjectPtr> known;  // those it controls
  std::string current{};         // the name stored in the owner's status; "" for none
  std::int64_t collisions = 0;
  std::function<bool(const std::string&)> name_taken;  // in its namespace
};

Revisions choose_revisions(const RevisionsSeen& seen);

// Revisions beyond the owner's history limit that are not `live`, oldest first.
std::vector<PlannedWrite> surplus_revisions(const RevisionsSeen& seen,
                                            const std::set<std::string>& live);

}  // namespace krater::controllers
