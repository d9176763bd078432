#include "base/utf8.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Utf8, CharactersStayAndOtherBytesAreReplacedOneByOne) {
  const std::string gap = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(valid_utf8("a\xFF\xFE"
                       "b"),
            "a" + gap + gap + "b");
  EXPECT_EQ(valid_utf8("\xC3"), gap) << "cut short";
  EXPECT_EQ(valid_utf8("\xE2\x82"), gap + gap);
  EXPECT_EQ(valid_utf8("\xC0\xAF"), gap + gap) << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), gap + gap + gap) << "a surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), gap + gap + gap + gap) << "above the last";
}

}  // namespace
}  // namespace krater
