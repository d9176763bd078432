#include "api/registry/commit.h"

#include <map>
#include <utility>

#include "api/registry/keys.h"
#include "api/registry/status.h"
#include "base/check.h"

namespace krater::api {
namespace {

using What = Change::What;

storage::Op write_op(const Change& change) {
  storage::Op out;
  out.what = change.what == What::Remove ? storage::Op::What::Delete : storage::Op::What::Put;
  out.key = store_key(change.place);
  out.expect = change.expect;
  out.value = change.encoded.bytes;
  out.revision_at = change.encoded.revision_at;
  return out;
}

// Leases and events are the bulk of all writes and worth less than a sync each; a crash may lose
// the last of them.
bool is_relaxed(const Change& change) {
  return change.kind == kinds::kLease || change.kind == kinds::kEvent;
}

void add_claims(const Change& change, std::vector<storage::Op>& ops) {
  for (const std::string& claim : change.claims_released) {
    storage::Op op;
    op.what = storage::Op::What::Delete;
    op.key = claim_key(claim);
    op.expect = storage::Expect::present();
    ops.push_back(std::move(op));
  }
  for (const std::string& claim : change.claims_taken) {
    storage::Op op;
    op.key = claim_key(claim);
    op.expect = storage::Expect::absent();
    op.value = store_key(change.place);
    ops.push_back(std::move(op));
  }
}

using OpsByKey = std::map<std::string, std::size_t>;

// One version a key and transaction: the last state, under the first condition.
Result<std::size_t> place_write(const Change& change, std::vector<storage::Op>& ops,
                                OpsByKey& op_of_key) {
  storage::Op op = write_op(change);
  const auto [place, first] = op_of_key.try_emplace(op.key, ops.size());
  if (first) {
    ops.push_back(std::move(op));
    return place->second;
  }
  storage::Op& earlier = ops[place->second];
  if (op.what == storage::Op::What::Delete &&
      earlier.expect.what == storage::Expect::What::Absent) {
    return bad_request("one transaction cannot both create and delete " + change.place.text());
  }
  op.expect = earlier.expect;
  earlier = std::move(op);
  return place->second;
}

Answer answer_of(const Change& change, ObjectPtr object) {
  return {std::move(object), change.created, change.what == What::Remove, change.warnings};
}

}  // namespace

Result<CommitPlan> plan_commit(const std::vector<Change>& changes) {
  CommitPlan plan;
  std::vector<storage::Op>& ops = plan.transaction.ops;
  OpsByKey op_of_key;
  bool all_relaxed = true;
  for (const Change& change : changes) {
    plan.op_of_change.emplace_back();
    if (change.what == What::Nothing) continue;
    all_relaxed = all_relaxed && is_relaxed(change);
    ops.insert(ops.end(), change.checks.begin(), change.checks.end());
    TRY_ASSIGN(plan.op_of_change.back(), place_write(change, ops, op_of_key));
    add_claims(change, ops);
    for (const Change& more : change.along) TRY(place_write(more, ops, op_of_key));
  }
  plan.transaction.durability =
      all_relaxed ? storage::Durability::Relaxed : storage::Durability::Synced;
  return plan;
}

Loss judge_failure(const CommitPlan& plan, const std::vector<Change>& changes,
                   const storage::CommitFailure& failure) {
  const bool lost_race = failure.error.code == Code::Conflict ||
                         failure.error.code == Code::NotFound ||
                         failure.error.code == Code::AlreadyExists;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (plan.op_of_change[i] != failure.op) continue;
    const bool name_taken =
        changes[i].created && !changes[i].generated_name && !changes[i].applies;
    return {i, lost_race && (changes[i].created ? !name_taken : changes[i].repeatable)};
  }
  return {std::nullopt, lost_race};
}

Error error_of_loss(const std::vector<Change>& changes, const Loss& loss,
                    const storage::CommitFailure& failure) {
  const Change& change = changes[loss.change.value_or(0)];
  const std::string& name = change.place.name;
  switch (failure.error.code) {
    case Code::AlreadyExists:
      if (change.generated_name) {
        Error error = already_exists(change.kind, name);
        error.message += ", the server was not able to generate a unique name for the object";
        error.retry_after_seconds = 1;
        return error;
      }
      return already_exists(change.kind, name);
    case Code::NotFound:
      return not_found(change.kind, name);
    case Code::Conflict:
      return modified_conflict(change.kind, name);
    case Code::BadRequest:
    case Code::Unauthorized:
    case Code::Forbidden:
    case Code::MethodNotAllowed:
    case Code::NotAcceptable:
    case Code::Expired:
    case Code::Invalid:
    case Code::TooLarge:
    case Code::UnsupportedMedia:
    case Code::TooManyRequests:
    case Code::Timeout:
    case Code::Unavailable:
    case Code::Internal:
      break;
  }
  Error error = failure.error;
  if (error.code == Code::TooManyRequests && !error.retry_after_seconds)
    error.retry_after_seconds = 1;
  return error;
}

std::vector<Answer> answers_of(const CommitPlan& plan, const std::vector<Change>& changes,
                               const storage::Committed& committed) {
  std::vector<Answer> out;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::optional<std::size_t> op = plan.op_of_change[i];
    out.push_back(
        answer_of(changes[i], op ? object_of(committed.records[*op]) : changes[i].before));
  }
  return out;
}

ObjectPtr outcome_of(const Change& change) {
  if (change.what == What::Nothing) return change.before;
  const Revision revision = change.before ? change.before->revision() : Revision();
  std::string bytes = at_revision(change.encoded.bytes, revision);
  if (!change.before) {
    // Nothing was stored, so there is no revision to show.
    const std::string none = "\"resourceVersion\":\"0\",";
    if (const std::size_t at = bytes.find(none); at != std::string::npos)
      bytes.erase(at, none.size());
  }
  Result<ObjectPtr> object =
      Object::parse(change.place, revision, std::make_shared<const std::string>(std::move(bytes)));
  CHECK_MSG(object.has_value(), change.place.text());
  return *std::move(object);
}

std::vector<Answer> dry_answers(const std::vector<Change>& changes) {
  std::vector<Answer> out;
  for (const Change& change : changes) out.push_back(answer_of(change, outcome_of(change)));
  return out;
}

}  // namespace krater::api
