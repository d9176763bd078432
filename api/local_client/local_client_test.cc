#include "api/local_client/local_client.h"

#include <gtest/gtest.h>

#include "api/registry/testing/harness.h"
#include "api/registry/testing/test_loop.h"

namespace krater::api {
namespace {

using testing::TestLoop;

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
