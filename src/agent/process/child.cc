#include "agent/process/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern char** environ;

namespace krater::agent {

Result<void> Children::spawn(const std::vector<std::string>& args, const std::string& log,
                             int ready, std::function<void(int)> ended) {
  std::vector<std::string> words{binary_, "shim"};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0640);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (ready >= 0) ::posix_spawn_file_actions_adddup2(&actions, ready, 3);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  // Its own session: a terminal's signals are not for it. No signal stays blocked from this thread.
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failure =
      ::posix_spawn(&pid, binary_.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failure != 0) return system_error("start", binary_, failure);

  auto child = std::make_unique<Child>();
  child->pid = pid;
  child->ended = std::move(ended);
  child->handle.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child->handle) return system_error("watch", binary_, errno);
  child->watch = poller_.on_readable(child->handle.get(), [this, pid] { finished(pid); });
  children_.push_back(std::move(child));
  return {};
}

void Children::finished(int pid) {
  const auto place =
      std::ranges::find_if(children_, [pid](const auto& child) { return child->pid == pid; });
  int status = 0;
  if (place == children_.end() || ::waitpid(pid, &status, WNOHANG) != pid) return;
  // Kept until the end: this runs inside its watch.
  const std::unique_ptr<Child> child = std::move(*place);
  children_.erase(place);
  if (child->ended) child->ended(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace krater::agent
