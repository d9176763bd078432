// What a process says when it dies of something nobody planned: a fatal signal, an exception that
// nobody caught, a failed CHECK. The reason goes to standard error at once, then a backtrace (best
// effort), then the reason again, so that it is the last line of the log; the process then ends by
// the same signal as it would have without. A signal's handler allocates nothing and takes no lock.
//
// Signals that end a process by default are told of too (SIGHUP, SIGUSR1, …), with who sent them.
// Only SIGKILL leaves no trace here.
#pragma once

#include <string_view>

namespace krater {

// For the process, once, before there are threads; ignores SIGPIPE and SIGXFSZ (a write then
// fails). Signals that are ignored already, as under nohup, stay so. SIGTERM and SIGINT are told of
// until somebody takes them over.
void prepare_last_words();
// For each further thread, as its first act: a stack for signal handlers, so that an overflow of
// its own stack can be told of. Returned when the thread ends.
void prepare_thread_for_last_words();
// The reason of an abort() to come, instead of "SIGABRT". The first one counts. Any thread.
void set_last_words(std::string_view reason) noexcept;

}  // namespace krater
