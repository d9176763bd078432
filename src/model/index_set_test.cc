#include "model/index_set.h"

#include <gtest/gtest.h>

#include <set>

namespace krater {
namespace {

TEST(IndexSet, ReadsAndWritesAsStatusDoes) {
  const struct {
    const char *text, *want;
  } cases[] = {{"", ""},       {"0", "0"},        {"0,1", "0,1"},
               {"0-2", "0-2"}, {"0,1,2", "0-2"},  {"5,0-2,4", "0-2,4,5"},
               {"x,3", "3"},   {"7-100", "7-9"},  {"12", ""},
               {"3-1", ""},    {"0-3,2-6", "0-6"}};
  for (const auto& c : cases) EXPECT_EQ(IndexSet::parse(c.text, 10).text(), c.want) << c.text;
}

TEST(IndexSet, AgreesWithASet) {
  IndexSet set;
  std::set<std::int64_t> oracle;
  std::uint64_t state = 7;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto index = static_cast<std::int64_t>((state >> 33) % 300);
    set.add(index);
    oracle.insert(index);
    ASSERT_EQ(set.count(), std::ssize(oracle));
    ASSERT_EQ(IndexSet::parse(set.text(), 300), set);
  }
  for (std::int64_t i = 0; i < 300; ++i) EXPECT_EQ(set.contains(i), oracle.contains(i));
}

TEST(IndexSet, CountsWhatIsBelow) {
  const IndexSet set = IndexSet::parse("0,2-3,6-9", 10);
  for (std::int64_t end = 0; end <= 12; ++end)
    EXPECT_EQ(set.count_below(end), end - std::ssize(set.missing(end, end))) << end;
  EXPECT_EQ(set.count_below(2147483647), 7);
}

TEST(IndexSet, NamesWhatIsMissing) {
  const IndexSet set = IndexSet::parse("0,2-3,6", 10);
  EXPECT_EQ(set.missing(3, 10), (std::vector<std::int64_t>{1, 4, 5}));
  EXPECT_EQ(set.missing(10, 8), (std::vector<std::int64_t>{1, 4, 5, 7}));
  EXPECT_TRUE(IndexSet::parse("0-4", 5).missing(5, 5).empty());
}

}  // namespace
}  // namespace krater
