#include "client/cache.h"

#include <gtest/gtest.h>

#include "client/work_queue.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::client {
namespace {

Json pod(const std::string& name) {
  return new_object(kinds::kPod, "d", name);
}

TEST(Cache, FollowsItsKind) {
  testing::ManualLoop loop;
  testing::FakeClient fake(loop, loop.wall());
  const ObjectPtr owner = fake.put(kinds::kJob, new_object(kinds::kJob, "d", "j"));
  fake.put(kinds::kPod, pod("a"));
  Cache cache(fake);
  std::vector<std::string> changes;
  cache.on_change(kinds::kPod, [&](const ObjectPtr& before, const ObjectPtr& after) {
    changes.push_back((before ? "-" : "+") + (after ? after : before)->name());
  });
  cache.add({kinds::kPod});
  EXPECT_FALSE(cache.synced());
  loop.run_ready();
  EXPECT_TRUE(cache.synced());
  Json owned = pod("b");
  set_path(owned, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*owner)});
  fake.put(kinds::kPod, owned);
  loop.run_ready();
  EXPECT_EQ(cache.list(kinds::kPod).size(), 2U);
  ASSERT_EQ(cache.controlled_by(kinds::kPod, owner->uid()).size(), 1U);
  EXPECT_EQ(cache.controlled_by(kinds::kPod, owner->uid())[0]->name(), "b");
  ASSERT_TRUE(fake.apply(DeleteWrite{kinds::kPod, "d", "b"}));
  loop.run_ready();
  EXPECT_EQ(cache.get(kinds::kPod, "d", "b"), nullptr);
  EXPECT_TRUE(cache.controlled_by(kinds::kPod, owner->uid()).empty());
  EXPECT_EQ(changes, (std::vector<std::string>{"+a", "+b", "-b"}));
  EXPECT_EQ(cache.seen(kinds::kPod), Revision(4));
}

// Tells what it is told to tell.
struct Teller final : ObjectClient {
  struct Nothing final : Subscription {};
  void get(const Kind&, const std::string&, const std::string&, Callback<ObjectPtr>) override {}
  void write(Write, Callback<ObjectPtr>) override {}
  void transact(std::vector<Write>, Callback<std::vector<ObjectPtr>>) override {}
  std::unique_ptr<Subscription> watch(WatchQuery, WatchHandlers told) override {
    handlers = std::move(told);
    return std::make_unique<Nothing>();
  }
  WatchHandlers handlers{};
};

// A pod that is marked and removed in one transaction comes as one removal.
TEST(Cache, ARemovalTellsTheLastStateThereWas) {
  const auto state = [](std::int64_t revision, const std::string& uid, const std::string& mark) {
    return *Object::parse(ObjectKey::of(kinds::kPod, "d", "p"), Revision(revision),
                          std::make_shared<const std::string>(
                              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                              R"("namespace":"d","uid":")" +
                              uid + R"(","labels":{"mark":")" + mark + R"("}}})"));
  };
  Teller teller;
  Cache cache(teller);
  std::string last;
  cache.on_change(kinds::kPod, [&](const ObjectPtr& before, const ObjectPtr& after) {
    if (after == nullptr) last = before->label("mark");
  });
  cache.add({kinds::kPod});
  teller.handlers.on_replace({state(1, "u", "early")}, Revision(1));
  teller.handlers.on_remove(state(3, "u", "late"));
  EXPECT_EQ(last, "late");
  EXPECT_EQ(cache.count(kinds::kPod), 0U);
  // Somebody else's end says nothing about the one that is known.
  teller.handlers.on_replace({state(4, "u", "mine")}, Revision(4));
  teller.handlers.on_remove(state(6, "v", "other"));
  EXPECT_EQ(last, "mine");
}

TEST(WorkQueue, OneKeyIsNeverProcessedTwiceAtOnce) {
  testing::ManualLoop loop;
  std::vector<std::string> started;
  WorkQueue queue(loop, {}, [&](const ObjectKey& key) { started.push_back(key.name); });
  const ObjectKey a = ObjectKey::of(kinds::kPod, "d", "a"),
                  b = ObjectKey::of(kinds::kPod, "d", "b");
  queue.add(a);
  queue.add(a);
  queue.add(b);
  loop.run_ready();
  EXPECT_EQ(started, (std::vector<std::string>{"a", "b"}));
  queue.add(a);
  loop.run_ready();
  EXPECT_EQ(started.size(), 2U);
  queue.done(a);
  loop.run_ready();
  EXPECT_EQ(started.size(), 3U);
}

TEST(WorkQueue, RetriesBackOffAndDelaysKeepTheEarliest) {
  testing::ManualLoop loop;
  int runs = 0;
  WorkQueue* self = nullptr;
  WorkQueue queue(loop, {10ms, 40ms}, [&](const ObjectKey& key) {
    ++runs;
    self->retry(key);
    self->done(key);
  });
  self = &queue;
  const ObjectKey a = ObjectKey::of(kinds::kPod, "d", "a");
  queue.add_after(a, 5s);
  queue.add_after(a, 1s);
  loop.advance(999ms);
  EXPECT_EQ(runs, 0);
  loop.advance(1ms);
  EXPECT_EQ(runs, 1);
  loop.advance(10ms + 20ms + 40ms + 40ms);
  EXPECT_EQ(runs, 5);
}

}  // namespace
}  // namespace krater::client
