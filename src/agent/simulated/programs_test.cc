#include "agent/simulated/programs.h"

#include <gtest/gtest.h>

namespace krater::agent {
namespace {

TEST(Programs, TheFirstThatMatchesCounts) {
  const auto programs = Programs::parse_yaml(
      "programs:\n"
      "- {match: '*sshd -D*'}\n"
      "- {match: '*sshd*', lasts: 1s, exitCode: 3}\n");
  ASSERT_TRUE(programs);
  EXPECT_FALSE(programs->find("/usr/sbin/sshd -D")->lasts);
  EXPECT_EQ(programs->find("/usr/sbin/sshd")->lasts, Duration(std::chrono::seconds(1)));
  EXPECT_EQ(programs->find("/usr/sbin/sshd")->exit_code, 3);
  EXPECT_EQ(programs->find("python"), nullptr);
}

TEST(Programs, MistakesAreNamed) {
  const auto why = [](const char* text) { return Programs::parse_yaml(text).error().message; };
  EXPECT_EQ(why("programs: 3"), "the list of programs needs a list `programs`");
  EXPECT_EQ(why("programs: [{lasts: 1s}]"), "an entry of the list of programs has no `match`");
  EXPECT_EQ(why("programs: [{match: a, lasts: soon}]"),
            "program a: `lasts` must be a time such as 10s, not \"soon\"");
  EXPECT_EQ(why("programs: [{match: a, lasts: -1s}]"),
            "program a: `lasts` must be a time such as 10s, not \"-1s\"");
  EXPECT_EQ(why("programs: [{match: a, exitCode: 256}]"),
            "program a: `exitCode` must be between 0 and 255");
  EXPECT_NE(why("programs: ["), "");
}

}  // namespace
}  // namespace krater::agent
