#include "cli/ssh_keys.h"

#include <chrono>

#include "base/log.h"

namespace krater::cli {
namespace {

constexpr auto kPause = std::chrono::seconds(1);  // before a wish that failed is tried again

}  // namespace

SshKeys::~SshKeys() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SshKeys::make(Done done) {
  {
    const std::lock_guard lock(mutex_);
    wishes_.push_back(std::move(done));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

void SshKeys::work() {
  for (;;) {
    Done done;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !wishes_.empty(); });
      if (stopped_) return;
      done = std::move(wishes_.front());
      wishes_.pop_front();
    }
    Result<runtime::SshKeyPair> made = runtime::make_ssh_key();
    if (!made) {
      // Whoever waits for it asks only once: it is tried again, after the others.
      log::error("ssh.key", {{"error", made.error().message}});
      std::unique_lock lock(mutex_);
      wishes_.push_back(std::move(done));
      changed_.wait_for(lock, kPause, [this] { return stopped_; });
      continue;
    }
    loop_.post([done = std::move(done), pair = *std::move(made)] { done(pair); });
  }
}

}  // namespace krater::cli
