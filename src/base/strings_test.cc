#include "base/strings.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Strings, Base64) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd", "\xff\xfe"}) {
    EXPECT_EQ(base64_decode(base64_encode(text)), text);
    EXPECT_EQ(base64url_decode(base64url_encode(text)), text);
  }
  EXPECT_EQ(base64_encode("hi"), "aGk=");
  EXPECT_FALSE(base64_decode("aGk"));
  EXPECT_FALSE(base64_decode("a*k="));
}

TEST(Strings, Dns1123) {
  EXPECT_EQ(check_dns1123_label("my-name"), "");
  EXPECT_NE(check_dns1123_label("My"), "");
  EXPECT_NE(check_dns1123_label("-a"), "");
  EXPECT_NE(check_dns1123_label(std::string(64, 'a')), "");
  EXPECT_EQ(check_dns1123_subdomain("a.b-c.d"), "");
  EXPECT_NE(check_dns1123_subdomain("a..b"), "");
  EXPECT_NE(check_dns1035_label("1a"), "");
}

TEST(Strings, ParseInt) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_FALSE(parse_int("12a"));
  EXPECT_FALSE(parse_int("99999999999999999999"));
}

}  // namespace
}  // namespace krater
