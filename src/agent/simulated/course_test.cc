#include "agent/simulated/course.h"

#include <gtest/gtest.h>

#include "agent/simulated/script.h"

namespace krater::agent {
namespace {

std::string told(const Course& course) {
  std::string out =
      course.lasts
          ? std::to_string(
                std::chrono::duration_cast<std::chrono::milliseconds>(*course.lasts).count()) +
                " ms, " + std::to_string(course.exit_code)
          : "for ever";
  return out + (course.ignores_term ? ", ignores TERM" : "");
}

std::string script(const std::string& text) {
  return told(read_course({"/bin/sh", "-c", text}, {}));
}

TEST(Course, CommandsOfTheirOwn) {
  EXPECT_EQ(told(read_course({}, {})), "for ever");
  EXPECT_EQ(told(read_course({"nginx"}, {})), "for ever");
  EXPECT_EQ(told(read_course({"sleep", "1.5"}, {})), "1500 ms, 0");
  EXPECT_EQ(told(read_course({"/bin/sleep", "2m", "1s"}, {})), "121000 ms, 0");
  EXPECT_EQ(told(read_course({"sleep", "infinity"}, {})), "for ever");
  EXPECT_EQ(told(read_course({"sleep", "99999999999999999999"}, {})), "for ever");
  EXPECT_EQ(told(read_course({"sleep", "106751d"}, {})), "for ever");
  EXPECT_EQ(told(read_course({"sleep"}, {})), "0 ms, 1");
  EXPECT_EQ(told(read_course({"sleep", "soon"}, {})), "0 ms, 1");
  EXPECT_EQ(told(read_course({"sleep", ""}, {})), "0 ms, 1");
  EXPECT_EQ(told(read_course({"true"}, {})), "0 ms, 0");
  EXPECT_EQ(told(read_course({"/bin/false"}, {})), "0 ms, 1");
}

TEST(Course, ScriptsOfAShell) {
  EXPECT_EQ(script(""), "0 ms, 0");
  EXPECT_EQ(script("sleep 10; exit 1"), "10000 ms, 1");
  EXPECT_EQ(script("sleep 10s && exit 3"), "10000 ms, 3");
  EXPECT_EQ(script("false && sleep 5; exit $?"), "0 ms, 1");
  EXPECT_EQ(script("false || sleep 5"), "5000 ms, 0");
  EXPECT_EQ(script("true || sleep 5 && sleep 2"), "2000 ms, 0");
  EXPECT_EQ(script("exit 2\nsleep 5"), "0 ms, 2");
  EXPECT_EQ(script("exit 258"), "0 ms, 2");
  EXPECT_EQ(script("exit now"), "0 ms, 2");
  EXPECT_EQ(script("echo 'done; at' $(date; echo ')' ) > /tmp/x 2>&1; sleep 3"), "for ever");
  EXPECT_EQ(script("echo 'done; at' $(date +%s; echo x) > /tmp/x 2>&1; sleep 3"), "3000 ms, 0");
  EXPECT_EQ(script("set -e; false; sleep 5"), "0 ms, 1");
  EXPECT_EQ(script("set -e; false || true; sleep 5"), "5000 ms, 0");
  EXPECT_EQ(script("A=1 B=2; sleep 1 # and no more; sleep 5"), "1000 ms, 0");
  EXPECT_EQ(script("exec sleep 4; exit 9"), "4000 ms, 0");
  EXPECT_EQ(script("sh -c 'sleep 1; exit 7'; sleep 1"), "2000 ms, 0");
  EXPECT_EQ(told(read_course({"bash", "-ec", "false; sleep 5"}, {})), "0 ms, 1");
}

TEST(Course, WhatIsNotUnderstoodRunsUntilItIsStopped) {
  for (const char* text :
       {"serve", "sleep 1 && serve", "sleep 1 &", "cat x | wc", "while true; do sleep 1; done",
        "(sleep 1)", "cat <<E\nE", "exit $CODE", "sleep $N", "echo `date`", "echo 'open",
        "sleep 1 &&", "trap 'exit 0' TERM; sleep 1", "> ; sleep 1", "if true; then exit 1; fi"}) {
    EXPECT_EQ(script(text), "for ever") << text;
  }
  EXPECT_EQ(told(read_course({"sh", "run.sh"}, {})), "for ever");
}

TEST(Course, ADeafScriptSaysSo) {
  EXPECT_EQ(script("trap '' TERM; sleep 5"), "5000 ms, 0, ignores TERM");
  EXPECT_EQ(script("trap \"\" INT SIGTERM; serve"), "for ever, ignores TERM");
  EXPECT_EQ(script("trap '' INT; sleep 5"), "5000 ms, 0");
}

TEST(Course, ShellsWithinShellsHaveAnEnd) {
  std::string text = "exit 4";
  EXPECT_EQ(script("sh -c \"" + text + "\""), "0 ms, 4");
  for (int i = 0; i < 20; ++i) {
    std::string quoted;
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    text = "sh -c \"" + quoted.substr(0, 10000) + "\"";
    if (quoted.size() > 10000) break;
  }
  EXPECT_EQ(script(text), "for ever");
}

TEST(Course, TheNodesProgramsComeFirst) {
  const auto programs = Programs::parse_yaml(
      "programs:\n"
      "- {match: 'mpiexec *', lasts: 2s}\n"
      "- {match: xxx, lasts: 0s, exitCode: 127}\n"
      "- {match: 'true'}\n");
  ASSERT_TRUE(programs);
  EXPECT_EQ(told(read_course({"mpiexec", "-np", "2"}, *programs)), "2000 ms, 0");
  EXPECT_EQ(told(read_course({"sh", "-c", "sleep 1 && xxx"}, *programs)), "1000 ms, 127");
  EXPECT_EQ(told(read_course({"true"}, *programs)), "for ever");
}

TEST(Script, QuotesAndRedirections) {
  const auto read = parse_script(R"(a 'b c' "d \"e\"" f\ g >x 2>&1 < y; "2">z)");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].words, (std::vector<std::string>{"a", "b c", "d \"e\"", "f g"}));
  EXPECT_EQ((*read)[1].words, (std::vector<std::string>{"2"}));
}

}  // namespace
}  // namespace krater::agent
