// Everything outside that can surprise us: time, chance, and "later". Built in src/cli, faked in
// tests and simulation, passed by reference. Nothing below src/cli asks the system for any of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/time.h"

namespace krater {

// A single-threaded executor. What is posted runs on its owner's thread, in order, one at a time.
class Loop {
 public:
  using Task = std::function<void()>;
  using TimerId = std::uint64_t;  // 0 is never a timer

  virtual ~Loop() = default;
  // Any thread.
  virtual void post(Task task) = 0;
  // Loop thread only. `delay` below zero counts as zero. Equal times run in order of creation.
  virtual TimerId after(Duration delay, Task task) = 0;
  // Loop thread only. Unknown or fired ids are ignored.
  virtual void cancel(TimerId timer) = 0;
  // Monotonic. Any thread.
  virtual SteadyTime now() const = 0;
  virtual bool on_loop_thread() const = 0;
};

// Only for timestamps that people read, and for deadlines that are stored as wall time. Any thread.
class WallClock {
 public:
  virtual ~WallClock() = default;
  virtual WallTime now() const = 0;
};

// Seeded once. Any thread (implementations lock).
class Rng {
 public:
  virtual ~Rng() = default;
  virtual std::uint64_t next() = 0;
  // Uniform in [0, bound). bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // `length` characters of Kubernetes' safe alphabet "bcdfghjklmnpqrstvwxz2456789".
  std::string suffix(std::size_t length);
  // RFC 4122 version 4 text form.
  std::string uuid();
};

// splitmix64 from a seed: same seed, same sequence, on every machine.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  // Guarded by an atomic exchange loop; no order is promised between threads.
  std::uint64_t state_;
};

}  // namespace krater
