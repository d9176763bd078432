#include "cli/ssh_keys.h"

#include <pthread.h>

#include <algorithm>

#include "base/last_words.h"
#include "base/log.h"

namespace krater::cli {
namespace {

constexpr auto kPause = std::chrono::seconds(1);
constexpr std::size_t kThreads = 4, kReserve = 8;

}  // namespace

SshKeys::Limits SshKeys::for_this_machine() {
  const std::size_t processors = std::thread::hardware_concurrency();
  return {std::clamp<std::size_t>(processors, 1, kThreads), kReserve, kPause};
}

SshKeys::SshKeys(Loop& loop, Maker make, Limits limits)
    : loop_(loop), make_(std::move(make)), limits_(limits) {}

SshKeys::~SshKeys() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SshKeys::make(Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (reserve_.empty()) {
      wishes_.push_back(std::move(done));
    } else {
      loop_.post([done = std::move(done), pair = std::move(reserve_.back())] { done(pair); });
      reserve_.pop_back();
    }
  }
  while (threads_.size() < limits_.threads) {
    threads_.emplace_back([this] {
      prepare_thread_for_last_words();
      pthread_setname_np(pthread_self(), "krater-keys");
      work();
    });
  }
  changed_.notify_one();
}

bool SshKeys::wanted() const {
  return reserve_.size() + in_work_ < wishes_.size() + limits_.reserve;
}

void SshKeys::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || wanted(); });
    if (stopped_) return;
    ++in_work_;
    lock.unlock();
    Result<runtime::SshKeyPair> made = make_();
    if (!made) log::error("ssh.key", {{"error", made.error().message}});
    lock.lock();
    --in_work_;
    if (made) {
      store(*std::move(made));
    } else {
      changed_.wait_for(lock, limits_.pause, [this] { return stopped_; });
    }
  }
}

void SshKeys::store(runtime::SshKeyPair pair) {
  if (wishes_.empty()) {
    reserve_.push_back(std::move(pair));
    return;
  }
  loop_.post([done = std::move(wishes_.front()), pair = std::move(pair)] { done(pair); });
  wishes_.pop_front();
}

}  // namespace krater::cli
