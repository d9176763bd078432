#include "storage/testing/store_fixture.h"

#include <future>

namespace krater::storage::testing {

Answer commit(Store& store, std::vector<Op> ops, Durability durability) {
  std::promise<Answer> answer;
  auto answered = answer.get_future();
  store.commit({std::move(ops), durability},
               [&answer](std::optional<CommitFailure> failure, Committed committed) {
                 answer.set_value({std::move(failure), std::move(committed)});
               });
  return answered.get();
}

Revision put(Store& store, std::string key, std::string value) {
  const Answer answer = commit(store, {put_op(std::move(key), std::move(value))});
  EXPECT_TRUE(answer.ok()) << answer.failure->error.message;
  return answer.committed.revision;
}

Revision remove(Store& store, std::string key) {
  const Answer answer = commit(store, {delete_op(std::move(key))});
  EXPECT_TRUE(answer.ok()) << answer.failure->error.message;
  return answer.committed.revision;
}

State state_of(const Snapshot& snapshot, const KeyRange& range) {
  State state;
  std::string last;
  const auto scanned = snapshot.scan(range, std::nullopt, [&](const RecordPtr& record) {
    EXPECT_LT(last, record->key) << "scan left the order of keys";
    EXPECT_LE(record->modified, snapshot.revision());
    last = record->key;
    state[record->key] = *record->value;
    return true;
  });
  EXPECT_TRUE(scanned) << scanned.error().message;
  return state;
}

std::vector<EventPtr> drain(Watch& watch, std::size_t limit) {
  std::vector<EventPtr> all;
  for (;;) {
    auto some = watch.next(limit);
    EXPECT_TRUE(some) << some.error().message;
    if (!some || some->empty()) return all;
    EXPECT_LE(some->size(), limit);
    all.insert(all.end(), some->begin(), some->end());
  }
}

std::string text(const Event& event) {
  std::string out = event.what == Event::What::Put ? "put " : "delete ";
  out += event.record->key + "=" + *event.record->value + " @" + event.revision().text();
  if (event.previous)
    out += " was " + *event.previous->value + "@" + event.previous->modified.text();
  return out;
}

std::vector<std::string> texts(const std::vector<EventPtr>& events) {
  std::vector<std::string> out;
  for (const EventPtr& event : events) out.push_back(text(*event));
  return out;
}

}  // namespace krater::storage::testing
