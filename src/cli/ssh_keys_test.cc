#include "cli/ssh_keys.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "testing/manual_loop.h"

namespace krater::cli {
namespace {

// Tasks may come from any thread; they are run here, one by one.
class SharedLoop final : public Loop {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  TimerId after(Duration delay, Task task) override {
    return timers_.after(delay, std::move(task));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }
  SteadyTime now() const override { return timers_.now(); }
  bool on_loop_thread() const override { return true; }

  void run_one() {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return tasks_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  testing::ManualLoop timers_;
};

struct SshKeysTest : ::testing::Test {
  SharedLoop loop;
  std::vector<std::string> got;
  SshKeys::Done note(const std::string& who) {
    return [this, who](const runtime::SshKeyPair& pair) {
      got.push_back(who + " " + pair.public_line);
    };
  }
};

TEST_F(SshKeysTest, SeveralAreMadeAtOnce) {
  std::promise<void> both;
  std::shared_future<void> released = both.get_future().share();
  std::atomic<int> inside = 0;
  SshKeys keys(loop,
               [&]() -> Result<runtime::SshKeyPair> {
                 if (++inside == 2) both.set_value();  // one alone would wait here for ever
                 released.wait();
                 return runtime::SshKeyPair{"private", "public"};
               },
               {2, 0, {}});
  keys.make(note("a"));
  keys.make(note("b"));
  loop.run_one();
  loop.run_one();
  EXPECT_EQ(got, (std::vector<std::string>{"a public", "b public"}));
}

TEST_F(SshKeysTest, WhoAsksLaterHasHisAtOnce) {
  std::atomic<int> number = 0;
  std::promise<void> enough;
  SshKeys keys(loop,
               [&]() -> Result<runtime::SshKeyPair> {
                 const int mine = ++number;
                 if (mine == 4) enough.set_value();  // the two before it are there
                 return runtime::SshKeyPair{"private", std::to_string(mine)};
               },
               {1, 2, {}});
  keys.make(note("first"));
  loop.run_one();
  EXPECT_EQ(got, std::vector<std::string>{"first 1"});
  keys.make(note("second"));
  loop.run_one();
  enough.get_future().wait();
  keys.make(note("third"));
  EXPECT_FALSE(loop.idle()) << "nothing has to be made for it";
  loop.run_one();
  EXPECT_EQ(got.size(), 3U);
  EXPECT_TRUE(loop.idle()) << "what was made beyond is nobody's";
}

TEST_F(SshKeysTest, AFailureIsTriedAgain) {
  std::atomic<int> tries = 0;
  SshKeys keys(loop,
               [&]() -> Result<runtime::SshKeyPair> {
                 if (++tries == 1) return make_error(Code::Internal, "no entropy");
                 return runtime::SshKeyPair{"private", "public"};
               },
               {1, 0, {}});
  keys.make(note("a"));
  loop.run_one();
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(got.size(), 1U);
}

TEST_F(SshKeysTest, EndsWithoutAWish) {
  SshKeys never_asked(loop);
  EXPECT_GE(SshKeys::for_this_machine().threads, 1U);
  EXPECT_LE(SshKeys::for_this_machine().threads, 4U);
}

}  // namespace
}  // namespace krater::cli
