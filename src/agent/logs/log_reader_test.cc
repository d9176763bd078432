#include "agent/logs/log_reader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "agent/logs/cri.h"

namespace krater::agent {
namespace {

// A container's log directory, written as the shim writes it.
struct LogReaderTest : ::testing::Test {
  std::filesystem::path directory;
  int rotated = 0;
  WallTime now = WallTime::from_unix_seconds(1'767'225'600);

  void SetUp() override {
    char name[] = "/tmp/krater-log-XXXXXX";
    directory = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string& text, bool full = true, int attempt = 0) {
    std::string record;
    append_record(record, now, "stdout", full, text);
    if (record.back() != '\n') record += '\n';
    std::ofstream(directory / (std::to_string(attempt) + ".log"), std::ios::app) << record;
    now = now + std::chrono::seconds(1);
  }
  void rotate() {
    std::filesystem::rename(directory / "0.log",
                            directory / ("0.log." + std::to_string(++rotated)));
    std::ofstream(directory / "0.log");
  }
  std::string all(LogOptions options, int attempt = 0) {
    LogReader reader(directory, attempt, options);
    std::string out;
    for (;;) {
      auto text = reader.read(64);
      EXPECT_TRUE(text);
      if (!text || text->empty()) return out;
      out += *text;
    }
  }
};

TEST_F(LogReaderTest, ReadsAllFilesOldestFirst) {
  write("one");
  rotate();
  write("two");
  rotate();
  write("three");
  EXPECT_EQ(all({}), "one\ntwo\nthree\n");
}

TEST_F(LogReaderTest, JoinsPartialRecords) {
  write("half ", false);
  write("whole");
  EXPECT_EQ(all({}), "half whole\n");
}

TEST_F(LogReaderTest, TailCountsOverRotation) {
  for (const char* text : {"a", "b", "c"}) write(text);
  rotate();
  for (const char* text : {"d", "e"}) write(text);
  EXPECT_EQ(all({.tail_lines = 1}), "e\n");
  EXPECT_EQ(all({.tail_lines = 2}), "d\ne\n");
  EXPECT_EQ(all({.tail_lines = 3}), "c\nd\ne\n");
  EXPECT_EQ(all({.tail_lines = 5}), "a\nb\nc\nd\ne\n");
  EXPECT_EQ(all({.tail_lines = 50}), "a\nb\nc\nd\ne\n");
  EXPECT_EQ(all({.tail_lines = 0}), "");
}

TEST_F(LogReaderTest, SinceTimestampsAndLimit) {
  write("early");
  const WallTime middle = now;
  write("late");
  EXPECT_EQ(all({.since = middle}), "late\n");
  EXPECT_EQ(all({.timestamps = true, .since = middle}), "2026-01-01T00:00:01.000000000Z late\n");
  EXPECT_EQ(all({.limit_bytes = 8}), "early\nla");
  EXPECT_EQ(all({.limit_bytes = 6}), "early\n");
}

TEST_F(LogReaderTest, FollowsOverRotation) {
  write("one");
  LogReader reader(directory, 0, {});
  EXPECT_EQ(*reader.read(1000), "one\n");
  EXPECT_EQ(*reader.read(1000), "");
  write("two");
  rotate();
  write("three");
  rotate();
  write("four");
  EXPECT_EQ(*reader.read(1000), "two\nthree\nfour\n");
  write("five");
  EXPECT_EQ(*reader.read(1000), "five\n");
}

TEST_F(LogReaderTest, TailOfNothingThenFollow) {
  write("old");
  LogReader reader(directory, 0, {.tail_lines = 0});
  EXPECT_EQ(*reader.read(1000), "");
  write("new");
  EXPECT_EQ(*reader.read(1000), "new\n");
}

TEST_F(LogReaderTest, AttemptsAreApart) {
  write("first", true, 0);
  write("second", true, 1);
  EXPECT_EQ(all({}, 0), "first\n");
  EXPECT_EQ(all({}, 1), "second\n");
  EXPECT_EQ(logged_attempts(directory), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace krater::agent
