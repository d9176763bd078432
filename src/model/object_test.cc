#include "model/object.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Object, ReadsWhatItIsIndexedBy) {
  auto bytes = std::make_shared<const std::string>(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d","uid":"u1","labels":{"a":"b"},)"
      R"("generation":3,"creationTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"apiVersion":"batch/v1",)"
      R"("kind":"Job","name":"j","uid":"u0","controller":true}],"finalizers":["x/y"]},"spec":{"nodeName":"n"}})");
  auto object = Object::parse(ObjectKey::of(kinds::kPod, "d", "p"), Revision(7), bytes);
  ASSERT_TRUE(object);
  EXPECT_EQ((*object)->uid(), Uid("u1"));
  EXPECT_EQ((*object)->label("a"), "b");
  EXPECT_EQ((*object)->generation(), 3);
  ASSERT_NE((*object)->controller(), nullptr);
  EXPECT_EQ((*object)->controller()->uid, Uid("u0"));
  EXPECT_EQ((*object)->finalizers().size(), 1U);
  EXPECT_FALSE((*object)->deletion());
  EXPECT_EQ((*object)->document(), (*object)->document());
  EXPECT_EQ((*object)->key().text(), "pods/d/p");
}

TEST(Object, ViewOfNothingReadsAsEmpty) {
  const ObjectView view{ObjectPtr()};
  EXPECT_FALSE(view);
  EXPECT_EQ(view.annotation("a"), "");
}

}  // namespace
}  // namespace krater
