#include "client/event_recorder.h"

#include <gtest/gtest.h>

#include <map>

#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::client {
namespace {

struct EventRecorderTest : ::testing::Test {
  testing::ManualLoop loop;
  testing::FakeClient fake{loop, loop.wall()};
  ObjectPtr pod = fake.put(kinds::kPod, new_object(kinds::kPod, "d", "p"));
  EventRecorder events{fake, loop, loop.wall(), "test-controller"};

  std::vector<ObjectPtr> stored() {
    loop.run_ready();
    return fake.all(kinds::kEvent);
  }
  std::vector<ObjectPtr> many_pods(int count) {
    std::vector<ObjectPtr> out;
    for (int i = 0; i < count; ++i)
      out.push_back(fake.put(kinds::kPod, new_object(kinds::kPod, "d", "p-" + std::to_string(i))));
    return out;
  }
};

TEST_F(EventRecorderTest, SaysWhatHappenedToWhomAndWho) {
  events.warning(*pod, "Broken", "it broke");
  ASSERT_EQ(stored().size(), 1U);
  const Json event = *stored()[0]->document();
  EXPECT_EQ(text_at(event, {"metadata", "namespace"}), "d");
  EXPECT_EQ(text_at(event, {"involvedObject", "kind"}), "Pod");
  EXPECT_EQ(text_at(event, {"involvedObject", "uid"}), pod->uid().text());
  EXPECT_EQ(text_at(event, {"type"}), "Warning");
  EXPECT_EQ(text_at(event, {"reason"}), "Broken");
  EXPECT_EQ(text_at(event, {"message"}), "it broke");
  EXPECT_EQ(text_at(event, {"source", "component"}), "test-controller");
  EXPECT_EQ(text_at(event, {"reportingComponent"}), "test-controller");
  EXPECT_EQ(int_at(event, {"count"}), 1);
}

TEST_F(EventRecorderTest, ARepeatedEventCounts) {
  events.normal(*pod, "Pulled", "image");
  loop.run_ready();
  loop.advance(7s);
  events.normal(*pod, "Pulled", "image");
  events.normal(*pod, "Pulled", "image");
  ASSERT_EQ(stored().size(), 1U);
  const Json event = *stored()[0]->document();
  EXPECT_EQ(int_at(event, {"count"}), 3);
  EXPECT_EQ(text_at(event, {"firstTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(text_at(event, {"lastTimestamp"}), "2026-01-01T00:00:07Z");
}

TEST_F(EventRecorderTest, ANewProcessCountsOn) {
  events.normal(*pod, "Pulled", "image");
  loop.run_ready();
  EventRecorder next(fake, loop, loop.wall(), "test-controller");
  next.normal(*pod, "Pulled", "image");
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(int_at(*stored()[0]->document(), {"count"}), 2);
}

TEST_F(EventRecorderTest, AnExpiredEventBeginsAnew) {
  events.normal(*pod, "Pulled", "image");
  ASSERT_TRUE(fake.apply(DeleteWrite{kinds::kEvent, "d", stored()[0]->name()}));
  events.normal(*pod, "Pulled", "image");
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(int_at(*stored()[0]->document(), {"count"}), 1);
}

TEST_F(EventRecorderTest, WhatIsKeptCurrentIsOneEventWithTheNewestMessage) {
  for (int i = 0; i < 100; ++i) {
    events.keep_current(*pod, EventType::Warning, "Waiting", "free: " + std::to_string(i));
    loop.advance(1s);
  }
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(text_at(*stored()[0]->document(), {"message"}), "free: 99");
  EXPECT_EQ(int_at(*stored()[0]->document(), {"count"}), 100);
  EXPECT_EQ(text_at(*stored()[0]->document(), {"lastTimestamp"}), "2026-01-01T00:01:39Z");
  EXPECT_EQ(events.dropped(), 0U);
  // The next process goes on with it; what is told once only stays apart.
  EventRecorder next(fake, loop, loop.wall(), "test-controller");
  next.keep_current(*pod, EventType::Warning, "Waiting", "free: all");
  next.warning(*pod, "Waiting", "for ever");
  std::map<std::string, std::int64_t> counts;
  for (const ObjectPtr& event : stored()) {
    counts[text_at(*event->document(), {"message"})] = *int_at(*event->document(), {"count"});
  }
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"free: all", 101}, {"for ever", 1}}));
}

TEST_F(EventRecorderTest, ManySimilarMessagesBecomeOne) {
  for (int i = 0; i < 15; ++i) events.warning(*pod, "Failed", "attempt " + std::to_string(i));
  const std::vector<ObjectPtr> all = stored();
  ASSERT_EQ(all.size(), 11U);
  int combined = 0;
  for (const ObjectPtr& event : all) {
    if (text_at(*event->document(), {"message"}) != "(combined from similar events): attempt 14")
      continue;
    EXPECT_EQ(int_at(*event->document(), {"count"}), 5);
    ++combined;
  }
  EXPECT_EQ(combined, 1);
}

TEST_F(EventRecorderTest, OneObjectCannotFloodTheStore) {
  for (int i = 0; i < 100; ++i) events.normal(*pod, "R" + std::to_string(i), "m");
  EXPECT_EQ(stored().size(), 25U);
  EXPECT_EQ(events.dropped(), 75U);
  loop.advance(10min);
  for (int i = 0; i < 5; ++i) events.normal(*pod, "S" + std::to_string(i), "m");
  EXPECT_EQ(stored().size(), 27U);
}

TEST_F(EventRecorderTest, AboutClusterObjectsLiesInDefault) {
  const ObjectPtr node = fake.put(kinds::kNode, new_object(kinds::kNode, "", "n1"));
  events.normal(*node, "NodeReady", "ready");
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0]->name_space(), "default");
}

TEST_F(EventRecorderTest, LongMessagesAreCutAtACharacter) {
  events.normal(*pod, "Long", std::string(1023, 'x') + "\xC3\xA4\xC3\xA4");
  EXPECT_EQ(text_at(*stored()[0]->document(), {"message"}), std::string(1023, 'x'));
}

TEST_F(EventRecorderTest, ManyAtOnceAreWrittenOneAfterTheOther) {
  const std::vector<ObjectPtr> pods = many_pods(1000);
  for (const ObjectPtr& one : pods) events.normal(*one, "Scheduled", "on n");
  EXPECT_EQ(stored().size(), 200U);
  loop.advance(100ms);
  EXPECT_EQ(stored().size(), 250U);
  // What is told again while it waits is one event all the same.
  events.normal(*pods.back(), "Scheduled", "on n");
  loop.advance(1500ms);
  EXPECT_EQ(stored().size(), 1000U);
  EXPECT_EQ(events.dropped(), 0U);
  int twice = 0;
  for (const ObjectPtr& one : fake.all(kinds::kEvent)) {
    if (int_at(*one->document(), {"count"}) == 2) ++twice;
  }
  EXPECT_EQ(twice, 1);
  // And the next burst finds its allowance again.
  loop.advance(1s);
  for (std::size_t i = 0; i < 100; ++i) events.normal(*pods[i], "Started", "c");
  EXPECT_EQ(stored().size(), 1100U);
}

TEST_F(EventRecorderTest, NoMoreWaitThanThereIsRoomFor) {
  EventRecorder::Limits limits;
  limits.writes_at_once = 10;
  limits.waiting = 20;
  EventRecorder few(fake, loop, loop.wall(), "test-controller", {}, limits);
  for (const ObjectPtr& one : many_pods(40)) few.normal(*one, "Scheduled", "on n");
  EXPECT_EQ(few.dropped(), 10U);
  loop.advance(1s);
  EXPECT_EQ(stored().size(), 30U);
}

}  // namespace
}  // namespace krater::client
