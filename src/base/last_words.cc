#include "base/last_words.h"

#include <cxxabi.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

namespace krater {
namespace {

struct FatalSignal {
  int number;
  const char* name;
  bool has_address;  // raised by the machine, for what was done at an address
  bool shows_where = has_address;
};
constexpr std::array kFatal{
    FatalSignal{SIGSEGV, "SIGSEGV", true},        FatalSignal{SIGBUS, "SIGBUS", true},
    FatalSignal{SIGFPE, "SIGFPE", true},          FatalSignal{SIGILL, "SIGILL", true},
    FatalSignal{SIGABRT, "SIGABRT", false, true}, FatalSignal{SIGSYS, "SIGSYS", false, true},
    FatalSignal{SIGTRAP, "SIGTRAP", false, true}, FatalSignal{SIGQUIT, "SIGQUIT", false, true},
    FatalSignal{SIGXCPU, "SIGXCPU", false, true}, FatalSignal{SIGHUP, "SIGHUP", false},
    FatalSignal{SIGINT, "SIGINT", false},         FatalSignal{SIGTERM, "SIGTERM", false},
    FatalSignal{SIGUSR1, "SIGUSR1", false},       FatalSignal{SIGUSR2, "SIGUSR2", false},
    FatalSignal{SIGALRM, "SIGALRM", false, true}, FatalSignal{SIGVTALRM, "SIGVTALRM", false, true},
    FatalSignal{SIGPROF, "SIGPROF", false, true}, FatalSignal{SIGIO, "SIGIO", false},
    FatalSignal{SIGPWR, "SIGPWR", false},         FatalSignal{SIGSTKFLT, "SIGSTKFLT", false},
};
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr int kMostFrames = 64;
// A backtrace through a broken heap or stack may never come back.
constexpr unsigned kBacktraceSeconds = 3;

std::array<char, 1024> reason{};
std::atomic<std::size_t> reason_size{0};
std::atomic<bool> reason_taken{false}, dying{false};

// A line put together without the heap; what does not fit is left out.
class Line {
 public:
  void text(std::string_view more) {
    for (const char c : more) {
      if (size_ + 1 < bytes_.size()) bytes_[size_++] = c == '\n' ? ' ' : c;
    }
  }
  void quoted(std::string_view more) {
    text("\"");
    for (const char c : more) {
      if (c == '"' || c == '\\') text("\\");
      text({&c, 1});
    }
    text("\"");
  }
  void number(std::uint64_t value, unsigned base = 10, std::size_t width = 1) {
    std::array<char, 32> digits{};
    std::size_t at = digits.size();
    do {
      digits[--at] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0 || digits.size() - at < width);
    text({digits.data() + at, digits.size() - at});
  }
  void write() {
    bytes_[size_] = '\n';
    const char* from = bytes_.data();
    std::size_t left = size_ + 1;
    while (left > 0) {
      const ssize_t n = ::write(STDERR_FILENO, from, left);
      if (n <= 0) return;
      from += n;
      left -= static_cast<std::size_t>(n);
    }
  }

 private:
  std::array<char, 2048> bytes_{};
  std::size_t size_ = 0;
};

// As the log writes it: 2026-11-29T12:00:00.000Z. The calendar is Howard Hinnant's arithmetic;
// gmtime may take a lock.
void add_time(Line& line) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto seconds = static_cast<std::uint64_t>(now.tv_sec);
  const std::uint64_t days = seconds / 86400 + 719468, of_day = seconds % 86400;
  const std::uint64_t era = days / 146097, of_era = days % 146097;
  const std::uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::uint64_t shifted = (5 * of_year + 2) / 153;
  const std::uint64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  line.number(year + era * 400 + (month <= 2 ? 1 : 0), 10, 4);
  line.text("-");
  line.number(month, 10, 2);
  line.text("-");
  line.number(of_year - (153 * shifted + 2) / 5 + 1, 10, 2);
  line.text("T");
  line.number(of_day / 3600, 10, 2);
  line.text(":");
  line.number(of_day / 60 % 60, 10, 2);
  line.text(":");
  line.number(of_day % 60, 10, 2);
  line.text(".");
  line.number(static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000, 10, 3);
  line.text("Z");
}

Line last_line(const FatalSignal& fatal, const siginfo_t& info) {
  Line out;
  add_time(out);
  out.text(" E died signal=");
  out.text(fatal.name);
  const bool sent = info.si_code <= 0;  // by a process, not by the machine
  if (fatal.has_address && !sent) {
    out.text(" address=0x");
    out.number(reinterpret_cast<std::uintptr_t>(info.si_addr), 16);
  }
  if (sent && info.si_pid != ::getpid()) {
    out.text(" sender_pid=");
    out.number(static_cast<std::uint64_t>(info.si_pid));
    out.text(" sender_uid=");
    out.number(info.si_uid);
  }
  std::array<char, 17> name{};
  ::prctl(PR_GET_NAME, name.data());
  out.text(" thread=");
  out.text(name.data());
  if (const std::size_t size = reason_size.load(std::memory_order_acquire); size > 0) {
    out.text(" reason=");
    out.quoted({reason.data(), size});
  }
  return out;
}

void on_fatal_signal(int number, siginfo_t* info, void*) {
  // Another thread is at it, and ends the process.
  if (dying.exchange(true)) {
    for (;;) ::pause();
  }
  const auto* fatal = std::find_if(kFatal.begin(), kFatal.end(),
                                   [&](const FatalSignal& one) { return one.number == number; });
  Line line = last_line(*fatal, *info);
  line.write();
  // A second failure in here, or too long a wait, ends the process with what has been said.
  for (const FatalSignal& one : kFatal) ::signal(one.number, SIG_DFL);
  if (fatal->shows_where) {
    sigset_t this_one;
    ::sigemptyset(&this_one);
    ::sigaddset(&this_one, number);
    ::pthread_sigmask(SIG_SETMASK, &this_one, nullptr);
    ::alarm(kBacktraceSeconds);
    std::array<void*, kMostFrames> frames{};
    const int count = ::backtrace(frames.data(), kMostFrames);
    ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
    ::alarm(0);
    line.write();
  }
  ::raise(number);  // pending until this handler returns
}

void on_terminate() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    set_last_words("std::terminate without an exception");
    std::abort();
  }
  int status = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string words = std::string("nobody caught ") + (status == 0 ? readable : type->name());
  std::free(readable);
  try {
    throw;
  } catch (const std::exception& exception) {
    words += std::string(": ") + exception.what();
  } catch (...) {
  }
  set_last_words(words);
  std::abort();
}

class SignalStack {
 public:
  SignalStack() {
    void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = kStackBytes;
    if (::sigaltstack(&stack, nullptr) == 0) {
      memory_ = memory;
    } else {
      ::munmap(memory, kStackBytes);
    }
  }
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, kStackBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

void prepare_last_words() {
  prepare_thread_for_last_words();
  // The first call loads what it needs, which a handler must not.
  std::array<void*, 2> frames{};
  (void)::backtrace(frames.data(), 2);
  std::set_terminate(on_terminate);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  for (const FatalSignal& one : kFatal) {
    struct sigaction before {};
    ::sigaction(one.number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(one.number, &action, nullptr);
  }
}

void prepare_thread_for_last_words() {
  thread_local const SignalStack stack;
}

void set_last_words(std::string_view words) noexcept {
  if (reason_taken.exchange(true)) return;
  const std::size_t size = std::min(words.size(), reason.size());
  std::copy_n(words.begin(), size, reason.begin());
  reason_size.store(size, std::memory_order_release);
}

}  // namespace krater
