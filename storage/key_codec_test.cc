#include "storage/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace krater::storage {
namespace {

TEST(KeyCodec, RowsRoundTrip) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{255}, std::int64_t{1} << 40, INT64_MAX}) {
    EXPECT_EQ(decode_number(encode_number(number)), number);
    EXPECT_EQ(parse_log_key(log_key(Revision(number))), Revision(number));
    const std::string row = data_key("a/b", Revision(number));
    const auto parsed = parse_data_key(row);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->key, "a/b");
    EXPECT_EQ(parsed->revision, Revision(number));
  }
  const std::string entry = log_value({LogEntry::What::Delete, Revision(7), "k"});
  const auto log = parse_log_value(entry);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->what, LogEntry::What::Delete);
  EXPECT_EQ(log->previous, Revision(7));
  EXPECT_EQ(log->key, "k");
  const std::string bytes = version_head(VersionKind::DeletedWithValue, Revision(9)) + "value";
  const auto version = parse_version(bytes);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->kind, VersionKind::DeletedWithValue);
  EXPECT_EQ(version->created, Revision(9));
  EXPECT_EQ(version->value, "value");
}

TEST(KeyCodec, RowsLieInTheOrderOfKeysAndNewestFirst) {
  const std::vector<std::string> rows{std::string(kDataBegin),      data_seek("a"),
                                      data_key("a", Revision(300)), data_key("a", Revision(299)),
                                      data_key("a", Revision(1)),   data_key("a", Revision(0)),
                                      data_seek_after("a"),         data_key("a\x01", Revision(5)),
                                      data_key("a!", Revision(9)),  data_key("a/b", Revision(9)),
                                      data_key("b", Revision(1)),   data_key("\xff", Revision(1)),
                                      std::string(kDataEnd),        log_key(Revision(1)),
                                      log_key(Revision(255)),       log_key(Revision(256)),
                                      std::string(kLogEnd),         std::string(kMetaFormat)};
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(KeyCodec, WhatIsNoRowIsRefused) {
  EXPECT_FALSE(decode_number("1234567"));
  EXPECT_FALSE(parse_data_key("d"));
  EXPECT_FALSE(parse_data_key("dkey-without-a-separator"));
  EXPECT_FALSE(parse_data_key(log_key(Revision(1))));
  EXPECT_FALSE(parse_log_key("l123"));
  EXPECT_FALSE(parse_version("p1234567"));
  EXPECT_FALSE(parse_version("x12345678"));
  EXPECT_FALSE(parse_log_value("p12345678"));
  EXPECT_FALSE(parse_log_value("x12345678k"));
}

TEST(KeyRange, OfAPrefixHoldsExactlyWhatBeginsWithIt) {
  const KeyRange range = KeyRange::prefix("a/");
  EXPECT_TRUE(range.contains("a/"));
  EXPECT_TRUE(range.contains("a/\xff\xff"));
  EXPECT_FALSE(range.contains("a"));
  EXPECT_FALSE(range.contains("a0"));
  EXPECT_EQ(KeyRange::prefix("a\xff\xff").end, "b");
  EXPECT_EQ(KeyRange::prefix("\xff").end, "") << "to the last key";
  EXPECT_TRUE(KeyRange::prefix("").contains("anything"));
}

}  // namespace
}  // namespace krater::storage
