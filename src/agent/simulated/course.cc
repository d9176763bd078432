#include "agent/simulated/course.h"

#include <algorithm>
#include <array>

#include "agent/simulated/script.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr int kDeepest = 8;  // shells within shells
constexpr Duration kEver = std::chrono::hours(10 * 365 * 24);
constexpr std::array<std::string_view, 9> kQuick{"true",  ":",  "echo",   "printf", "date",
                                                 "mkdir", "cd", "export", "touch"};

std::string_view base_name(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  return slash == std::string_view::npos ? program : program.substr(slash + 1);
}

bool is_shell(std::string_view name) {
  return name == "sh" || name == "bash" || name == "ash" || name == "dash";
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != 0 && equals != std::string_view::npos &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9');
         });
}

// sleep's: a number, then s (default), m, h or d.
std::optional<Duration> sleep_time(std::string_view word) {
  if (word.empty() || word.front() == '-' || word.front() == '+') return std::nullopt;
  if (word.back() == 'd') {
    const auto hours = parse_go_duration(std::string(word.substr(0, word.size() - 1)) + "h");
    if (!hours) return std::nullopt;
    return *hours > kEver / 24 ? kEver : *hours * 24;
  }
  const bool plain = word.back() >= '0' && word.back() <= '9';
  if (!plain && std::string_view("smh").find(word.back()) == std::string_view::npos)
    return std::nullopt;
  return parse_go_duration(std::string(word) + (plain ? "s" : ""));
}

// Follows commands as long as it is known what they do.
class Follower {
 public:
  Follower(const Programs& programs, Course& course) : programs_(programs), course_(course) {}

  // False: it runs until it is stopped. Else its exit status is in `status`.
  bool command(const std::vector<std::string>& all, int& status) {
    auto first = std::find_if_not(all.begin(), all.end(), is_assignment);
    const bool replaces = first != all.end() && *first == "exec";
    if (replaces) ++first;
    const std::vector<std::string> words(first, all.end());
    if (words.empty()) {
      status = 0;
      return true;
    }
    const bool known = run(words, status);
    if (replaces) left_ = true;
    return known;
  }

  Duration spent() const { return spent_; }

 private:
  bool run(const std::vector<std::string>& words, int& status) {
    if (const Program* program = programs_.find(join(words, " "))) {
      status = program->exit_code;
      return program->lasts && spend(*program->lasts);
    }
    const std::string_view name = base_name(words[0]);
    if (name == "sleep") return sleep(words, status);
    if (name == "exit") return exit(words, status);
    if (name == "trap") return trap(words, status);
    if (name == "set") return set(words, status);
    if (is_shell(name)) return shell(words, status);
    status = name == "false" ? 1 : 0;
    return name == "false" || std::find(kQuick.begin(), kQuick.end(), name) != kQuick.end();
  }

  bool spend(Duration time) {
    spent_ += std::min(time, kEver);
    return spent_ < kEver;
  }

  bool sleep(const std::vector<std::string>& words, int& status) {
    status = words.size() == 1 ? 1 : 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::optional<Duration> time = sleep_time(words[i]);
      // A variable, or for ever in one way or another; else a mistake that sleep tells at once.
      if (!time && (words[i].find('$') != std::string::npos || words[i] == "infinity" ||
                    (words[i][0] >= '1' && words[i][0] <= '9')))
        return false;
      if (!time) status = 1;
      if (time && status == 0 && !spend(*time)) return false;
    }
    return true;
  }

  bool exit(const std::vector<std::string>& words, int& status) {
    left_ = true;
    if (words.size() == 1 || words[1] == "$?") {
      status = last_;
      return true;
    }
    const auto code = parse_int(words[1]);
    if (!code && words[1].find('$') != std::string::npos) return false;
    status = code ? static_cast<int>(*code) & 255 : 2;
    return true;
  }

  bool trap(const std::vector<std::string>& words, int& status) {
    status = 0;
    if (words.size() < 3 || !words[1].empty()) return false;  // what it does then is not known
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "TERM" || words[i] == "SIGTERM" || words[i] == "15")
        course_.ignores_term = true;
    }
    return true;
  }

  bool set(const std::vector<std::string>& words, int& status) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].size() > 1 && words[i][0] == '-' && words[i].find('e') != std::string::npos)
        fragile_ = true;
    }
    status = 0;
    return true;
  }

  bool shell(const std::vector<std::string>& words, int& status) {
    std::size_t at = 1;
    bool fragile = false, script = false;
    for (; at < words.size() && !script && words[at].size() > 1 && words[at][0] == '-'; ++at) {
      if (words[at][1] == '-') return false;
      script = words[at].find('c') != std::string::npos;
      fragile = fragile || words[at].find('e') != std::string::npos;
    }
    if (!script || at == words.size() || depth_ == kDeepest) return false;
    const auto statements = parse_script(words[at]);
    if (!statements) return false;
    Follower inner(programs_, course_);
    inner.depth_ = depth_ + 1;
    inner.fragile_ = fragile;
    inner.spent_ = spent_;
    const bool ends = inner.follow(*statements);
    spent_ = inner.spent_;
    status = inner.last_;
    return ends;
  }

  bool follow(const std::vector<Statement>& statements) {
    for (const Statement& one : statements) {
      if (one.when == Statement::When::AfterSuccess && last_ != 0) continue;
      if (one.when == Statement::When::AfterFailure && last_ == 0) continue;
      int status = 0;
      if (!command(one.words, status)) return false;
      last_ = status;
      if (left_ || (fragile_ && status != 0 && !one.tested)) return true;
    }
    return true;
  }

  const Programs& programs_;
  Course& course_;
  Duration spent_{};
  int last_ = 0;  // $?
  int depth_ = 0;
  bool fragile_ = false;  // set -e
  bool left_ = false;     // exit, exec
};

}  // namespace

Course read_course(const std::vector<std::string>& argv, const Programs& programs) {
  Course out;
  if (argv.empty()) return out;
  Follower follower(programs, out);
  int status = 0;
  if (!follower.command(argv, status)) return out;
  out.lasts = follower.spent();
  out.exit_code = status;
  return out;
}

}  // namespace krater::agent
