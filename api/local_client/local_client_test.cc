#include "api/local_client/local_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "api/registry/testing/harness.h"

namespace krater::api {
namespace {

// A loop that the test's own thread runs; other threads post to it.
class TestLoop final : public Loop {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.notify_one();
  }
  TimerId after(Duration delay, Task task) override {
    const std::lock_guard lock(mutex_);
    timers_.emplace(std::pair(now() + delay, ++last_), std::move(task));
    return last_;
  }
  void cancel(TimerId timer) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(timers_, [timer](const auto& entry) { return entry.first.second == timer; });
  }
  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  bool on_loop_thread() const override { return std::this_thread::get_id() == owner_; }

  // Runs what is posted until `done` holds; false when it does not within ten seconds.
  bool run_until(const std::function<bool()>& done) {
    const SteadyTime limit = now() + 10s;
    while (!done()) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        if (tasks_.empty() && !timers_.empty() && timers_.begin()->first.first <= now()) {
          tasks_.push_back(std::move(timers_.begin()->second));
          timers_.erase(timers_.begin());
        }
        const SteadyTime next =
            timers_.empty() ? limit : std::min(limit, timers_.begin()->first.first);
        if (!posted_.wait_until(lock, next, [this] { return !tasks_.empty(); })) {
          if (now() >= limit) return false;
          continue;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> tasks_;
  std::map<std::pair<SteadyTime, TimerId>, Task> timers_;
  TimerId last_ = 0;
  std::thread::id owner_ = std::this_thread::get_id();
};

using testing::Harness;

class LocalClientTest : public ::testing::Test {
 protected:
  Json map(const std::string& name) { return new_object(kinds::kConfigMap, "default", name); }
  Harness h;
  TestLoop loop;
  std::unique_ptr<client::ObjectClient> client =
      make_local_client(h.registry(), loop, "system:test");
};

TEST_F(LocalClientTest, AnswersOnItsLoop) {
  std::optional<Result<ObjectPtr>> got;
  client->write(client::CreateWrite{kinds::kConfigMap, "default", map("a")},
                [&](Result<ObjectPtr> made) {
                  EXPECT_TRUE(loop.on_loop_thread());
                  EXPECT_TRUE(made.has_value());
                  client->get(kinds::kConfigMap, "default", "a",
                              [&](Result<ObjectPtr> object) { got = std::move(object); });
                });
  EXPECT_FALSE(got.has_value());
  ASSERT_TRUE(loop.run_until([&] { return got.has_value(); }));
  ASSERT_TRUE(got->has_value());
  EXPECT_EQ((**got)->name(), "a");
}

TEST_F(LocalClientTest, AWatchTellsTheWholeTruthAndThenEveryChange) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, R"({"metadata":{"name":"a"}})").has_value());
  std::string told;
  client::WatchHandlers handlers;
  handlers.on_replace = [&](std::vector<ObjectPtr> all, Revision) {
    told += "=" + std::to_string(all.size());
  };
  handlers.on_upsert = [&](ObjectPtr object) { told += "+" + object->name(); };
  handlers.on_remove = [&](ObjectPtr object) { told += "-" + object->name(); };
  auto subscription = client->watch({kinds::kConfigMap}, handlers);
  ASSERT_TRUE(loop.run_until([&] { return told == "=1"; })) << told;
  client->write(client::CreateWrite{kinds::kConfigMap, "default", map("b")},
                [](Result<ObjectPtr>) {});
  client->write(client::DeleteWrite{kinds::kConfigMap, "default", "a"}, [](Result<ObjectPtr>) {});
  ASSERT_TRUE(loop.run_until([&] { return told == "=1+b-a"; })) << told;
  subscription.reset();
  bool done = false;
  client->write(client::DeleteWrite{kinds::kConfigMap, "default", "b"},
                [&](Result<ObjectPtr>) { done = true; });
  ASSERT_TRUE(loop.run_until([&] { return done; }));
  EXPECT_EQ(told, "=1+b-a");
}

TEST_F(LocalClientTest, ATransactionIsOneStepOfHistory) {
  std::optional<Result<std::vector<ObjectPtr>>> got;
  client->transact({client::CreateWrite{kinds::kConfigMap, "default", map("a")},
                    client::CreateWrite{kinds::kConfigMap, "default", map("b")}},
                   [&](Result<std::vector<ObjectPtr>> made) { got = std::move(made); });
  ASSERT_TRUE(loop.run_until([&] { return got.has_value(); }));
  ASSERT_TRUE(got->has_value());
  EXPECT_EQ((**got)[1]->revision(), (**got)[0]->revision().next());
  got.reset();
  client->transact({client::CreateWrite{kinds::kConfigMap, "default", map("c")},
                    client::CreateWrite{kinds::kConfigMap, "default", map("a")}},
                   [&](Result<std::vector<ObjectPtr>> made) { got = std::move(made); });
  ASSERT_TRUE(loop.run_until([&] { return got.has_value(); }));
  ASSERT_FALSE(got->has_value());
  EXPECT_EQ(got->error().code, Code::AlreadyExists);
  EXPECT_EQ(got->error().causes[0].field, "[1]");
  EXPECT_FALSE(h.registry().get(kinds::kConfigMap, "default", "c").has_value());
}

TEST_F(LocalClientTest, ADroppedClientAnswersNobody) {
  bool called = false;
  client->write(client::CreateWrite{kinds::kConfigMap, "default", map("a")},
                [&](Result<ObjectPtr>) { called = true; });
  client.reset();
  ASSERT_TRUE(h.create(kinds::kConfigMap, R"({"metadata":{"name":"b"}})")
                  .has_value());  // answered after the first
  bool after = false;
  loop.post([&] { after = true; });
  ASSERT_TRUE(loop.run_until([&] { return after; }));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace krater::api
