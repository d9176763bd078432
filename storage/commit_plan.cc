#include "storage/commit_plan.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace krater::storage {
namespace {

std::optional<Error> check_form(const Op& op) {
  if (op.key.empty()) return make_error(Code::Invalid, "store: a key must not be empty");
  if (op.key.find('\0') != std::string::npos) {
    return make_error(Code::Invalid, "store: a key must not contain NUL");
  }
  if (op.revision_at && *op.revision_at > op.value.size()) {
    return make_error(Code::Invalid, "store: revision_at lies beyond the value");
  }
  return std::nullopt;
}

// The value as it is kept, as long as its object lives: with its revision in it, and without the
// room to grow that inserting and encoding leave behind, which is often as much again.
std::string exact_value(const Op& op, Revision revision) {
  const std::string number = op.revision_at ? revision.text() : std::string();
  const std::size_t at = op.revision_at.value_or(0);
  std::string out;
  out.reserve(op.value.size() + number.size());
  out.append(op.value, 0, at).append(number).append(op.value, at);
  return out;
}

// Nothing while the precondition holds.
std::optional<Error> check_expect(const Op& op, const RecordPtr& current) {
  switch (op.expect.what) {
    case Expect::What::Any:
      break;
    case Expect::What::Absent:
      if (current) return make_error(Code::AlreadyExists, op.key + " already exists");
      break;
    case Expect::What::Present:
    case Expect::What::Exactly:
      if (!current) return make_error(Code::NotFound, op.key + " not found");
      if (op.expect.what == Expect::What::Exactly && current->modified != op.expect.revision) {
        return make_error(Code::Conflict, op.key + " is at revision " + current->modified.text() +
                                              ", not " + op.expect.revision.text());
      }
      break;
  }
  if (op.what == Op::What::Delete && !current) {
    return make_error(Code::NotFound, op.key + " not found");
  }
  return std::nullopt;
}

// Two writes of one key in one transaction would make "the state before" ambiguous for the second.
std::optional<std::size_t> repeated_key(const std::vector<Op>& ops) {
  std::vector<std::pair<std::string_view, std::size_t>> keys;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].what != Op::What::Check) keys.emplace_back(ops[i].key, i);
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].first == keys[i - 1].first) return keys[i].second;
  }
  return std::nullopt;
}

// The form of all ops first: what is malformed is not worth a conflict.
std::optional<CommitFailure> check(const Transaction& transaction, const IndexEditor& index) {
  const std::vector<Op>& ops = transaction.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (auto error = check_form(ops[i])) return CommitFailure{*std::move(error), i, nullptr};
  }
  if (const auto op = repeated_key(ops)) {
    return CommitFailure{
        make_error(Code::Invalid, "store: a transaction writes " + ops[*op].key + " twice"), *op,
        nullptr};
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    RecordPtr current = index.find(ops[i].key);
    if (auto error = check_expect(ops[i], current)) {
      return CommitFailure{*std::move(error), i, std::move(current)};
    }
  }
  return std::nullopt;
}

}  // namespace

CommitPlan::Outcome CommitPlan::add(Transaction transaction) {
  if (auto failure = check(transaction, index_)) return {std::move(failure), {}};
  Outcome outcome;
  outcome.committed.records.reserve(transaction.ops.size());
  const std::size_t before = events_.size();
  for (Op& op : transaction.ops) outcome.committed.records.push_back(apply(op));
  outcome.committed.revision = head_;
  if (events_.size() > before && transaction.durability == Durability::Synced) synced_ = true;
  return outcome;
}

RecordPtr CommitPlan::apply(Op& op) {
  if (op.what == Op::What::Check) return nullptr;
  head_ = head_.next();
  op.value = exact_value(op, head_);
  const RecordPtr before = index_.find(op.key);
  if (before) replaced_bytes_ += before->value->size() + before->key.size();
  return op.what == Op::What::Put ? put(op, before) : remove(op, before);
}

RecordPtr CommitPlan::put(Op& op, const RecordPtr& before) {
  RecordPtr record =
      version(std::move(op.key), std::make_shared<const std::string>(std::move(op.value)),
              before ? before->created : head_);
  index_.put(record);
  events_.push_back(std::make_shared<const Event>(Event{Event::What::Put, record, before}));
  return record;
}

RecordPtr CommitPlan::remove(Op& op, const RecordPtr& before) {
  CHECK(before != nullptr);
  index_.erase(op.key);
  // The old value is shared, not copied, when the deletion carries none of its own.
  RecordPtr record = version(
      std::move(op.key),
      op.value.empty() ? before->value : std::make_shared<const std::string>(std::move(op.value)),
      before->created);
  events_.push_back(std::make_shared<const Event>(Event{Event::What::Delete, record, before}));
  return record;
}

RecordPtr CommitPlan::version(std::string key, Bytes value, Revision created) {
  auto decoded = decode_ ? decode_(key, value, created, head_) : nullptr;
  return std::make_shared<const Record>(
      Record{std::move(key), std::move(value), created, head_, std::move(decoded)});
}

}  // namespace krater::storage
