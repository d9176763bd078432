#include "model/document_shelf.h"

#include <gtest/gtest.h>

#include "model/object.h"

namespace krater {
namespace {

DocumentShelf::Document made() {
  return std::make_shared<const Json>(Json{{"a", 1}});
}

TEST(DocumentShelf, HoldsADocumentUntilItHasAgedTwice) {
  DocumentShelf shelf{DocumentShelf::Limits()};
  std::weak_ptr<const Json> document;
  {
    const auto one = made();
    document = one;
    shelf.keep(one, 10);
  }
  shelf.age();
  EXPECT_FALSE(document.expired());
  shelf.age();
  EXPECT_TRUE(document.expired());
}

TEST(DocumentShelf, HoldsNoMoreThanTwoGenerations) {
  DocumentShelf by_number{{10, 1000, 100}};
  for (int i = 0; i < 1000; ++i) {
    by_number.keep(made(), 1);
    ASSERT_LE(by_number.size(), 20U);
  }
  EXPECT_GE(by_number.size(), 10U);
  DocumentShelf by_bytes{{1000, 100, 50}};
  for (int i = 0; i < 1000; ++i) {
    by_bytes.keep(made(), 10);
    ASSERT_LE(by_bytes.size(), 20U);
  }
  EXPECT_GE(by_bytes.size(), 10U);
}

TEST(DocumentShelf, LargeDocumentsAreNotHeld) {
  DocumentShelf shelf{{10, 1000, 100}};
  shelf.keep(made(), 101);
  EXPECT_EQ(shelf.size(), 0U);
}

TEST(DocumentShelf, AnObjectIsParsedOnceAndItsTreeGoesWithTime) {
  const auto bytes = std::make_shared<const std::string>(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d"}})");
  const ObjectPtr object = *Object::parse(ObjectKey::of(kinds::kPod, "d", "p"), Revision(1), bytes);
  const std::weak_ptr<const Json> first = object->document();
  EXPECT_EQ(first.lock(), object->document());
  age_documents();
  age_documents();
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(text_at(*object->document(), {"metadata", "name"}), "p");
}

}  // namespace
}  // namespace krater
