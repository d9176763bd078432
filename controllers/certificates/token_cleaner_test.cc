// Bootstrap tokens go when their time is over, other secrets never.
#include "controllers/certificates/token_cleaner.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "controllers/loop/testing/world.h"
#include "model/kinds.h"

namespace krater::controllers {
namespace {

struct TokenCleanerTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_token_cleaner());
    world.controllers.start();
    world.settle();
  }
  void put(const std::string& name, const std::string& expiration,
           const std::string& name_space = "kube-system",
           const std::string& type = "bootstrap.kubernetes.io/token") {
    world.put(kinds::kSecret, R"({"metadata":{"name":")" + name + R"(","namespace":")" +
                                  name_space + R"("},"type":")" + type +
                                  R"(","data":{"expiration":")" + base64_encode(expiration) +
                                  R"("}})");
    world.settle();
  }
  bool there(const std::string& name, const std::string& name_space = "kube-system") const {
    return world.get(kinds::kSecret, name_space, name) != nullptr;
  }
  std::string in(Duration time) { return to_rfc3339(world.loop.wall().now() + time); }
};

TEST_F(TokenCleanerTest, ATokenGoesTheMomentItEnds) {
  put("t", in(std::chrono::hours(1)));
  world.pass(std::chrono::minutes(59));
  EXPECT_TRUE(there("t"));
  world.pass(std::chrono::minutes(1));
  EXPECT_FALSE(there("t"));
}

TEST_F(TokenCleanerTest, OneThatIsOverAlreadyAndOneWhoseEndCannotBeReadGoAtOnce) {
  put("over", in(std::chrono::hours(-1)));
  put("odd", "tomorrow");
  EXPECT_FALSE(there("over"));
  EXPECT_FALSE(there("odd"));
}

TEST_F(TokenCleanerTest, ALongerLifeCounts) {
  put("t", in(std::chrono::minutes(10)));
  put("t", in(std::chrono::hours(2)));
  world.pass(std::chrono::hours(1));
  EXPECT_TRUE(there("t"));
}

TEST_F(TokenCleanerTest, OtherSecretsStay) {
  put("elsewhere", in(std::chrono::hours(-1)), "default");
  put("opaque", in(std::chrono::hours(-1)), "kube-system", "Opaque");
  put("endless", "");
  world.pass(std::chrono::hours(24));
  EXPECT_TRUE(there("elsewhere", "default"));
  EXPECT_TRUE(there("opaque"));
  EXPECT_TRUE(there("endless"));
}

}  // namespace
}  // namespace krater::controllers
