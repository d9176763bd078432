#include "base/json_members.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(JsonMembers, FewOrManyAreErasedAndTheRestKeepsItsOrder) {
  for (const int many : {3, 40}) {
    JsonObject object;
    std::vector<std::string> names{"not there"};
    for (int i = 0; i < many; ++i) {
      object["gone" + std::to_string(i)] = i;
      object["kept" + std::to_string(many - i)] = JsonObject{{"i", i}};
      names.push_back("gone" + std::to_string(i));
    }
    erase_members(object, names);
    ASSERT_EQ(object.size(), static_cast<std::size_t>(many));
    EXPECT_EQ(object.begin()->key(), "kept" + std::to_string(many));
    EXPECT_EQ(to_json(Json(object.at("kept1"))), "{\"i\":" + std::to_string(many - 1) + "}");
  }
}

}  // namespace
}  // namespace krater
