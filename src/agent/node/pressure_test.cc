#include "agent/node/pressure.h"

#include <gtest/gtest.h>

#include "agent/node/machine_figures.h"

namespace krater::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

WallTime at(std::int64_t s) {
  return WallTime::from_unix_seconds(s);
}

Figures figures(std::int64_t memory, std::int64_t disk = 50, std::int64_t inodes = 50,
                std::int64_t pids = 30'000) {
  return {Figure{memory, std::int64_t{8} << 30}, Figure{disk, 100}, Figure{inodes, 100},
          Figure{pids, 32'768}};
}

constexpr std::int64_t kMi = 1 << 20;

PressureMachine usual() {
  return PressureMachine(*parse_thresholds(kDefaultThresholds));
}

TEST(Pressure, BeginsBelowTheThresholdOfEachSignal) {
  struct Case {
    Figures figures;
    Pressures wanted;
  };
  const std::vector<Case> cases{{figures(100 * kMi), {}},
                                {figures(100 * kMi - 1), {.memory = true}},
                                {figures(4096 * kMi, 10), {}},
                                {figures(4096 * kMi, 9), {.disk = true}},
                                {figures(4096 * kMi, 50, 5), {}},
                                {figures(4096 * kMi, 50, 4), {.disk = true}},
                                {figures(4096 * kMi, 50, 50, 327), {}},
                                {figures(4096 * kMi, 50, 50, 326), {.pids = true}}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(usual().observe(cases[i].figures, at(0)), cases[i].wanted) << i;
}

TEST(Pressure, LastsFiveMinutesBeyondTheShortage) {
  PressureMachine machine = usual();
  EXPECT_TRUE(machine.observe(figures(1), at(0)).memory);
  EXPECT_TRUE(machine.observe(figures(200 * kMi), at(10)).memory);
  EXPECT_TRUE(machine.observe(figures(1), at(200)).memory) << "short again: it counts anew";
  EXPECT_TRUE(machine.observe(figures(200 * kMi), at(499)).memory);
  EXPECT_FALSE(machine.observe(figures(200 * kMi), at(500)).memory);
  EXPECT_FALSE(machine.observe(figures(200 * kMi), at(501)).disk);
}

TEST(Pressure, DiskIsShortAsLongAsBytesOrInodesAre) {
  PressureMachine machine = usual();
  EXPECT_TRUE(machine.observe(figures(4096 * kMi, 9), at(0)).disk);
  EXPECT_TRUE(machine.observe(figures(4096 * kMi, 50, 1), at(299)).disk);
  EXPECT_TRUE(machine.observe(figures(4096 * kMi), at(301)).disk);
  EXPECT_FALSE(machine.observe(figures(4096 * kMi), at(600)).disk);
}

TEST(Pressure, WhatCannotBeReadIsNoShortage) {
  EXPECT_EQ(usual().observe(Figures{}, at(0)), Pressures{});
}

TEST(Pressure, ThresholdsAreReadOrRefusedByName) {
  const auto parsed = parse_thresholds(" memory.available < 1Gi , nodefs.available<2.5%");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ((*parsed)[0].of(0), std::int64_t{1} << 30);
  EXPECT_EQ((*parsed)[1].of(1000), 25);
  EXPECT_EQ((*parsed)[1].of(std::int64_t{1} << 50), (std::int64_t{1} << 50) / 40);
  EXPECT_TRUE(parse_thresholds("")->empty());
  for (const char* bad : {"memory.available", "memory.available<lots", "imagefs.available<1%",
                          "nodefs.available<101%", "pid.available<-1", "memory.available<1Gi,"}) {
    const auto refused = parse_thresholds(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, Code::BadRequest);
  }
}

TEST(MachineFigures, ReadTheKernelsFiles) {
  const auto memory = memory_figure(
      "MemTotal:       8000000 kB\nMemFree:         100 kB\nMemAvailable:  70 kB\n"
      "Inactive:  9 kB\nInactive(file):  24 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->available, 124 * 1024);
  EXPECT_EQ(memory->capacity, std::int64_t{8'000'000} * 1024);
  EXPECT_FALSE(memory_figure("MemTotal: 1 kB\n"));
  const auto pids = pid_figure("0.10 0.20 0.30 3/234 4567\n", "32768\n", "1000\n");
  ASSERT_TRUE(pids);
  EXPECT_EQ(pids->capacity, 1000);
  EXPECT_EQ(pids->available, 766);
  EXPECT_FALSE(pid_figure("", "1", "1"));
}

TEST(MachineFigures, ThisMachineHasThemAll) {
  const Figures read = MachineFigures("/").read();
  for (const Signal signal : {Signal::Memory, Signal::Disk, Signal::Pids}) {
    const std::optional<Figure>& figure = read[static_cast<std::size_t>(signal)];
    ASSERT_TRUE(figure) << static_cast<int>(signal);
    EXPECT_GT(figure->capacity, 0);
    EXPECT_LE(figure->available, figure->capacity);
  }
}

}  // namespace
}  // namespace krater::agent
