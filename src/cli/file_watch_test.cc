#include "cli/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "cli/files.h"
#include "testing/manual_loop.h"

namespace krater::cli {
namespace {

TEST(FileWatch, TellsOfAnotherTextOnceAndOutlivesAFileThatIsAway) {
  const std::string path = ::testing::TempDir() + "/watched.conf";
  ASSERT_TRUE(write_file(path, "one", 0600));
  testing::ManualLoop loop;
  std::vector<std::string> told;
  FileWatch watch(path, "one", loop, [&](std::string text) { told.push_back(std::move(text)); });
  watch.start();
  loop.advance(std::chrono::seconds(3));
  EXPECT_TRUE(told.empty());
  ASSERT_TRUE(write_file(path, "two", 0600));
  loop.advance(std::chrono::seconds(3));
  EXPECT_EQ(told, std::vector<std::string>{"two"});
  std::filesystem::remove(path);
  loop.advance(std::chrono::seconds(3));
  ASSERT_TRUE(write_file(path, "two", 0600));
  loop.advance(std::chrono::seconds(3));
  EXPECT_EQ(told.size(), 1U);
}

}  // namespace
}  // namespace krater::cli
