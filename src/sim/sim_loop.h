// The world's clock and its one queue of things to do, ordered by time, then by serial number. A
// Lane is what a component gets as its Loop: its own thread in a real process, here a name in the
// queue. What a lane is posted runs in order, but a seeded moment later, so that lanes overtake
// each other as threads do. Everything on one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/env.h"

namespace krater::sim {

class SimLoop final {
 public:
  using Task = Loop::Task;
  using Id = std::uint64_t;

  // `seed`: of the lanes' moments. Wall time begins at 2026-01-01T00:00:00Z.
  explicit SimLoop(std::uint64_t seed) : moments_(seed), wall_(*this) {}
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  SteadyTime now() const { return now_; }
  const WallClock& wall() const { return wall_; }
  // `lane`: whose task this is. A time that has passed counts as now.
  Id at(SteadyTime due, std::uint64_t lane, Task task);
  // Unknown or run ids are ignored.
  void cancel(Id id);
  // A lane is gone, and with it all that it was to do.
  void forget(std::uint64_t lane);
  std::uint64_t new_lane(std::string name);
  // In [0, bound).
  Duration moment(Duration bound);

  // Runs what is due up to and at `until`, then stands there. False: time does not go on, a million
  // things were done and there are more; a world that runs in circles.
  [[nodiscard]] bool run_until(SteadyTime until);
  std::uint64_t tasks_run() const { return tasks_run_; }
  // What each lane still has to do and when, for people: "node-001: 3, next in 2.5s; ...".
  std::string waiting() const;

 private:
  struct Entry {
    std::uint64_t lane;
    Task task;
  };
  struct Wall final : WallClock {
    explicit Wall(const SimLoop& owner) : loop(owner) {}
    WallTime now() const override {
      return WallTime::from_unix_seconds(1'767'225'600) + loop.now_.time_since_epoch();
    }
    const SimLoop& loop;
  };

  SeededRng moments_;
  Wall wall_;
  SteadyTime now_{};
  std::map<std::pair<SteadyTime, Id>, Entry> queue_;
  std::unordered_map<Id, SteadyTime> due_;
  Id last_id_ = 0;
  std::unordered_map<std::uint64_t, std::string> lanes_;
  std::uint64_t last_lane_ = 0, tasks_run_ = 0;
};

class Lane final : public Loop {
 public:
  explicit Lane(SimLoop& world, std::string name = "lane")
      : world_(world), id_(world.new_lane(std::move(name))) {}
  // What it still had to do is dropped, as with the end of a process.
  ~Lane() override { world_.forget(id_); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void post(Task task) override;
  TimerId after(Duration delay, Task task) override;
  void cancel(TimerId timer) override { world_.cancel(timer); }
  // Nothing of what was to be done here is done.
  void clear() { world_.forget(id_); }
  SteadyTime now() const override { return world_.now(); }
  bool on_loop_thread() const override { return true; }

 private:
  SimLoop& world_;
  const std::uint64_t id_;
  SteadyTime last_post_{};  // nothing posted runs before what was posted earlier
};

}  // namespace krater::sim
