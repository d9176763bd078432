#include "base/last_words.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "base/check.h"

namespace krater {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

// What the log ends with.
std::string last_line(const std::string& what) {
  return "E died " + what + "[^\n]*\n$";
}

class LastWordsDeathTest : public ::testing::Test {
 protected:
  LastWordsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

int dig(volatile int* depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  if (*depth == 0) return 0;
  return dig(depth) + room[0];
}

TEST_F(LastWordsDeathTest, AFailedCheckSaysWhereAndWhat) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        CHECK_MSG(1 + 1 == 3, "a \"sum\"");
      },
      KilledBySignal(SIGABRT),
      last_line("signal=SIGABRT thread=.* reason=\".*last_words_test.cc:[0-9]+: CHECK failed: "
                "1 \\+ 1 == 3 a .\"sum.\"\""));
}

TEST_F(LastWordsDeathTest, AnExceptionThatNobodyCaughtIsNamed) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        std::thread([] { throw std::runtime_error("the text\nof it"); }).join();
      },
      KilledBySignal(SIGABRT),
      last_line("signal=SIGABRT .*reason=\"nobody caught std::runtime_error: the text of it\""));
}

TEST_F(LastWordsDeathTest, AWrongAccessTellsTheAddressAndTheThread) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        std::thread([] {
          prepare_thread_for_last_words();
          pthread_setname_np(pthread_self(), "the-thread");
          *reinterpret_cast<volatile int*>(0x1230) = 1;
        }).join();
      },
      KilledBySignal(SIGSEGV), last_line("signal=SIGSEGV address=0x1230 thread=the-thread"));
}

TEST_F(LastWordsDeathTest, AnOverflowOfAThreadsStackIsTold) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        std::thread([] {
          prepare_thread_for_last_words();
          volatile int depth = 0;
          dig(&depth);
        }).join();
      },
      KilledBySignal(SIGSEGV), last_line("signal=SIGSEGV address=0x[0-9a-f]+ thread="));
}

TEST_F(LastWordsDeathTest, ASignalOfAnotherProcessTellsWhoSentIt) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        if (::fork() == 0) {
          ::kill(::getppid(), SIGUSR1);
          ::_exit(0);
        }
        for (;;) ::pause();
      },
      KilledBySignal(SIGUSR1),
      last_line("signal=SIGUSR1 sender_pid=[0-9]+ sender_uid=[0-9]+ thread="));
}

TEST_F(LastWordsDeathTest, WhatWasIgnoredStaysIgnored) {
  EXPECT_EXIT(
      {
        ::signal(SIGHUP, SIG_IGN);
        prepare_last_words();
        ::raise(SIGHUP);
        ::raise(SIGPIPE);
        ::_exit(7);
      },
      ExitedWithCode(7), "");
}

TEST_F(LastWordsDeathTest, TheFirstReasonIsTheOneThatCounts) {
  EXPECT_EXIT(
      {
        prepare_last_words();
        set_last_words("the cause");
        set_last_words("what came of it");
        std::abort();
      },
      KilledBySignal(SIGABRT), last_line("signal=SIGABRT thread=.* reason=\"the cause\""));
}

}  // namespace
}  // namespace krater
