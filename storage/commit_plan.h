// What a group of transactions does, decided without any I/O: preconditions against the index as
// the earlier ones of the group leave it, revisions, new versions, events. Writer's thread.
#pragma once

#include <optional>
#include <vector>

#include "storage/index.h"
#include "storage/store.h"

namespace krater::storage {

class CommitPlan {
 public:
  // Continues after revision `head`. Edits `index` as transactions are accepted.
  CommitPlan(IndexEditor& index, Revision head, const Decode& decode)
      : index_(index), head_(head), decode_(decode) {}

  struct Outcome {
    std::optional<CommitFailure> failure;
    Committed committed;
  };
  // All of the transaction or nothing of it.
  Outcome add(Transaction transaction);

  Revision head() const { return head_; }
  bool synced() const { return synced_; }  // does an accepted write want to survive a crash?
  // One an accepted write, in revision order without gaps.
  const std::vector<EventPtr>& events() const { return events_; }
  std::vector<EventPtr> take_events() { return std::move(events_); }
  // Versions that left the index: what an older snapshot keeps alive.
  std::size_t replaced_bytes() const { return replaced_bytes_; }

 private:
  RecordPtr apply(Op& op);
  RecordPtr put(Op& op, const RecordPtr& before);
  RecordPtr remove(Op& op, const RecordPtr& before);
  RecordPtr version(std::string key, Bytes value, Revision created);

  IndexEditor& index_;
  Revision head_;
  const Decode& decode_;
  bool synced_ = false;
  std::size_t replaced_bytes_ = 0;
  std::vector<EventPtr> events_;
};

}  // namespace krater::storage
