#include "base/strings.h"

#include <gtest/gtest.h>

#include "base/go_bool.h"

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

TEST(Strings, BooleansAsGoReadsThem) {
  for (const char* text : {"1", "t", "T", "TRUE", "true", "True"})
    EXPECT_EQ(parse_go_bool(text), true) << text;
  for (const char* text : {"0", "f", "F", "FALSE", "false", "False"})
    EXPECT_EQ(parse_go_bool(text), false) << text;
  for (const char* text : {"", "yes", "tRUE", " true", "10"})
    EXPECT_FALSE(parse_go_bool(text)) << text;
}

TEST(Strings, ParseInt) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_FALSE(parse_int("12a"));
  EXPECT_FALSE(parse_int("99999999999999999999"));
}

}  // namespace
}  // namespace krater
