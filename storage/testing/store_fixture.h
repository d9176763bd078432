// Short words for stories about a store.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"
#include "storage/testing/medium.h"

namespace krater::storage::testing {

inline Op put_op(std::string key, std::string value, Expect expect = Expect::any()) {
  return Op{Op::What::Put, std::move(key), expect, std::move(value)};
}
inline Op delete_op(std::string key, Expect expect = Expect::any(), std::string last = {}) {
  return Op{Op::What::Delete, std::move(key), expect, std::move(last)};
}
inline Op check_op(std::string key, Expect expect) {
  return Op{Op::What::Check, std::move(key), expect, {}};
}

// commit() and its whole answer.
struct Answer {
  std::optional<CommitFailure> failure;
  Committed committed;
  bool ok() const { return !failure; }
  Code code() const { return failure->error.code; }
};
Answer commit(Store& store, std::vector<Op> ops, Durability durability = Durability::Synced);

Revision put(Store& store, std::string key, std::string value);
Revision remove(Store& store, std::string key);

using State = std::map<std::string, std::string>;
State state_of(const Snapshot& snapshot, const KeyRange& range = {});
// Everything a watch has to give now.
std::vector<EventPtr> drain(Watch& watch, std::size_t limit = 1000);
// "put a=1 @3", "delete a=1 @4 was 1@3".
std::string text(const Event& event);
std::vector<std::string> texts(const std::vector<EventPtr>& events);

}  // namespace krater::storage::testing
