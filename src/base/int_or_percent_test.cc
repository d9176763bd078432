#include "base/int_or_percent.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(IntOrPercent, NumbersStandAndPercentagesAreRoundedAsAsked) {
  const struct {
    std::string_view json;
    std::int64_t whole;
    std::optional<std::int64_t> down, up;
  } cases[] = {
      {"3", 10, 3, 3},           {"0", 10, 0, 0},          {R"("25%")", 10, 2, 3},
      {R"("100%")", 7, 7, 7},    {R"("0%")", 7, 0, 0},     {R"("25%")", 0, 0, 0},
      {R"("25")", 10, {}, {}},   {R"("-5%")", 10, {}, {}}, {R"("%")", 10, {}, {}},
      {R"("1.5%")", 10, {}, {}}, {"null", 10, {}, {}},     {R"("9999999999%")", 10, {}, {}},
  };
  for (const auto& item : cases) {
    const Result<Json> value = parse_json(item.json);
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(int_or_percent(&*value, item.whole, Rounding::Down), item.down) << item.json;
    EXPECT_EQ(int_or_percent(&*value, item.whole, Rounding::Up), item.up) << item.json;
  }
  EXPECT_EQ(int_or_percent(nullptr, 10, Rounding::Up), std::nullopt);
}

}  // namespace
}  // namespace krater
