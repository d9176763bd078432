// From prepared changes to one store transaction and back to answers. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/registry/prepare.h"
#include "api/registry/request.h"
#include "storage/store.h"

namespace krater::api {

struct CommitPlan {
  storage::Transaction transaction;
  // For each change: its op, if it writes at all. Changes of one key share the op of the last.
  std::vector<std::optional<std::size_t>> op_of_change;
};

// Code::BadRequest when the changes cannot be one transaction (an object both made and removed in
// it).
Result<CommitPlan> plan_commit(const std::vector<Change>& changes);

// What a failed commit means: which change lost (nullopt: a claim or a check), and whether trying
// again helps.
struct Loss {
  std::optional<std::size_t> change;
  bool repeatable = false;
};
Loss judge_failure(const CommitPlan& plan, const std::vector<Change>& changes,
                   const storage::CommitFailure& failure);
// Told to the client when it does not.
Error error_of_loss(const std::vector<Change>& changes, const Loss& loss,
                    const storage::CommitFailure& failure);

std::vector<Answer> answers_of(const CommitPlan& plan, const std::vector<Change>& changes,
                               const storage::Committed& committed);
// As if it had been stored: a new object without a revision, a changed one with the revision it
// had.
std::vector<Answer> dry_answers(const std::vector<Change>& changes);
// The object a change leaves behind, before it has a revision of its own.
ObjectPtr outcome_of(const Change& change);

}  // namespace krater::api
