#include "base/quantity.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

std::string canonical(std::string_view text) {
  auto parsed = Quantity::parse(text);
  return parsed ? parsed->text() : "error";
}

TEST(Quantity, CanonicalForms) {
  EXPECT_EQ(canonical("0.5"), "500m");
  EXPECT_EQ(canonical("1000m"), "1");
  EXPECT_EQ(canonical("1024Mi"), "1Gi");
  EXPECT_EQ(canonical("1.5Gi"), "1536Mi");
  EXPECT_EQ(canonical("0.5Ki"), "512");
  EXPECT_EQ(canonical("1e3"), "1e3");
  EXPECT_EQ(canonical("12345e-1"), "1234500e-3");
  EXPECT_EQ(canonical("1000k"), "1M");
  EXPECT_EQ(canonical("-0.001"), "-1m");
  EXPECT_EQ(canonical("+3"), "3");
  EXPECT_EQ(canonical("0Gi"), "0");
  EXPECT_EQ(canonical(".5"), "500m");
  EXPECT_EQ(canonical("5."), "5");
  EXPECT_EQ(canonical("1E"), "1E");
  EXPECT_EQ(canonical("0.1n"), "1n");
  EXPECT_EQ(canonical("1.25Ki"), "1280");
}

TEST(Quantity, Refused) {
  for (const char* text :
       {"", "-", ".", "1.2.3", "1mi", "1 Gi", "abc", "1gi", "1e", "--1", "1KiB", "0x1"}) {
    EXPECT_EQ(canonical(text), "error") << text;
  }
}

TEST(Quantity, ValuesRoundUp) {
  EXPECT_EQ(Quantity::parse("1.1")->value(), 2);
  EXPECT_EQ(Quantity::parse("-1.1")->value(), -2);
  EXPECT_EQ(Quantity::parse("1u")->milli_value(), 1);
  EXPECT_EQ(Quantity::parse("2Gi")->value(), 2147483648);
  EXPECT_EQ(Quantity::parse("9999999999999999999999")->value(), INT64_MAX);
}

TEST(Quantity, ComparesByAmountAndAdds) {
  EXPECT_EQ(*Quantity::parse("1"), *Quantity::parse("1000m"));
  EXPECT_LT(*Quantity::parse("1G"), *Quantity::parse("1Gi"));
  EXPECT_EQ((*Quantity::parse("1Gi") + *Quantity::parse("1Gi")).text(), "2Gi");
}

}  // namespace
}  // namespace krater
