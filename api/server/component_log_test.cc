#include "api/server/component_log.h"

#include <gtest/gtest.h>

namespace krater::api {
namespace {

TEST(ComponentLog, KeepsTheNewestLinesAndTheirNumbers) {
  ComponentLog log(10);
  log.append(WallTime(1), "aaaa");
  log.append(WallTime(2), "bbbb");
  log.append(WallTime(3), "cccc");
  const ComponentLog::Piece all = log.read(0);
  ASSERT_EQ(all.lines.size(), 2U);
  EXPECT_EQ(all.lines[0].text, "bbbb");
  EXPECT_EQ(all.next, 3U);
  EXPECT_TRUE(log.read(3).lines.empty());
  EXPECT_EQ(log.read(2).lines.at(0).text, "cccc");
}

TEST(ComponentLog, KeepsOneLineHoweverLong) {
  ComponentLog log(2);
  log.append(WallTime(1), "longer than that");
  EXPECT_EQ(log.read(0).lines.size(), 1U);
}

TEST(ComponentLog, TellsListenersUntilTheyLetGo) {
  ComponentLog log;
  int told = 0;
  auto listening = log.listen([&] { ++told; });
  log.append(WallTime(1), "a");
  EXPECT_EQ(told, 1);
  listening.reset();
  log.append(WallTime(2), "b");
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace krater::api
