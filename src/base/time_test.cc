#include "base/time.h"

#include <gtest/gtest.h>

namespace krater {
namespace {

TEST(Time, Rfc3339RoundTrip) {
  EXPECT_EQ(to_rfc3339(WallTime::from_unix_seconds(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(*parse_rfc3339("2026-11-29T12:34:56Z")), "2026-11-29T12:34:56Z");
  EXPECT_EQ(to_rfc3339(*parse_rfc3339("2026-11-29T12:34:56.789+02:00")), "2026-11-29T10:34:56Z");
  EXPECT_EQ(to_rfc3339_micro(*parse_rfc3339("2026-02-28T23:59:59.123456Z")),
            "2026-02-28T23:59:59.123456Z");
  for (const char* text :
       {"", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T24:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Time, HumanDurationLikeKubectl) {
  EXPECT_EQ(human_duration(5s), "5s");
  EXPECT_EQ(human_duration(119s), "119s");
  EXPECT_EQ(human_duration(130s), "2m10s");
  EXPECT_EQ(human_duration(11min), "11m");
  EXPECT_EQ(human_duration(3h + 5min), "3h5m");
  EXPECT_EQ(human_duration(47h), "47h");
  EXPECT_EQ(human_duration(50h), "2d2h");
}

TEST(Time, GoDurations) {
  EXPECT_EQ(parse_go_duration("1h30m"), 90min);
  EXPECT_EQ(parse_go_duration("300ms"), 300ms);
  EXPECT_EQ(parse_go_duration("-1.5h"), -90min);
  EXPECT_EQ(parse_go_duration("0"), 0s);
  EXPECT_EQ(parse_go_duration("3\xce\xbcs"), 3us);
  EXPECT_FALSE(parse_go_duration("5"));
  EXPECT_FALSE(parse_go_duration("s"));
}

}  // namespace
}  // namespace krater
