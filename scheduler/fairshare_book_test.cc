// The arithmetic of past usage, the accounts, and the text they are kept as.
#include "scheduler/fairshare_book.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "scheduler/plugins/fairshare_gate.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

constexpr Wide kSecond = Decay::kSecond;

std::uint64_t seconds(Wide usage) {
  return static_cast<std::uint64_t>(usage / kSecond);
}

TEST(Decay, IsExactAtWholeHalfLives) {
  const Decay decay(4h);
  Wide left = 1'000'000 * kSecond;
  EXPECT_EQ(decay.after(left, 0, Duration(0)), left);
  EXPECT_EQ(decay.after(left, 0, 4h), left / 2);
  EXPECT_EQ(decay.after(left, 0, 8h), left / 4);
  EXPECT_EQ(decay.after(left, 0, 24h), left / 64);
  EXPECT_EQ(decay.after(left, 0, 4h * 200), 0U);
  // Time that went back is none.
  EXPECT_EQ(decay.after(left, 7, -1h), left);
}

TEST(Decay, FollowsThePowerInBetween) {
  const Decay decay(1h);
  const Wide whole = 1'000'000'000 * kSecond;
  // 2^(-1/2), 2^(-1/60), 2^(-1.25)
  EXPECT_EQ(seconds(decay.after(whole, 0, 30min)), 707'106'781U);
  EXPECT_EQ(seconds(decay.after(whole, 0, 1min)), 988'514'020U);
  EXPECT_EQ(seconds(decay.after(whole, 0, 75min)), 420'448'207U);
}

TEST(Decay, WhatIsInUseAddsUpToAnEnd) {
  const Decay decay(1h);
  // 3600 s / ln 2 * (1 - 2^-1), and ever less of it.
  EXPECT_EQ(seconds(decay.after(0, 1000, 1h)), 2'596'851U);
  EXPECT_EQ(seconds(decay.after(0, 1000, 1000h)), 5'193'702U);
  // The first second counts as one.
  EXPECT_EQ(seconds(decay.after(0, 1'000'000, 1s)), 999'903U);
}

TEST(Decay, ComesToTheSameHoweverOftenOneLooks) {
  const Decay decay(7h);
  const Wide start = 123'456'789 * kSecond;
  Wide often = start;
  for (int i = 0; i < 10'000; ++i) often = decay.after(often, 4321, 1234ms);
  const Wide once = decay.after(start, 4321, 1234ms * 10'000);
  EXPECT_LT(often > once ? often - once : once - often, kSecond / 1000);
}

TEST(Decay, HasRoomForTheLargest) {
  const Decay decay(Decay::kLongest);
  const Wide most = decay.after(Decay::kMostUsage, ~Wide{0}, Decay::kLongest * 20);
  EXPECT_LE(most, Decay::kMostUsage);
  EXPECT_GT(most, Decay::kMostRate);
}

class Book {
 public:
  explicit Book(FairshareRules rules) { use(std::move(rules)); }
  void use(FairshareRules rules) {
    book.use(std::make_shared<const FairshareRules>(std::move(rules)));
  }
  void hold(const std::string& name, const std::string& user, const std::string& cpu,
            const std::string& queue = "q") {
    JobInfo job;
    job.key = {user, name};
    job.known = true;
    job.queue = QueueName(queue);
    ResourceList list;
    list.set("cpu", std::stoll(cpu) * 1000);
    list.set("nvidia.com/gpu", 2);
    job.allocated = cpu == "0" ? Resource() : Resource::from(list, names);
    book.set(job.key, &job, names);
  }
  void pass(Duration time) { book.set_time(now += time); }
  std::uint64_t used(const std::string& user, const std::string& queue = "q") const {
    for (const FairshareBook::Account* one : book.accounts()) {
      if (one->user == user && one->queue == QueueName(queue))
        return static_cast<std::uint64_t>(book.used(*one));
    }
    return 0;
  }

  ResourceNames names;
  FairshareBook book;
  SteadyTime now{};
};

FairshareRules of_cpu(Duration half_life = 1h) {
  FairshareRules out;
  out.resource = "cpu";
  out.half_life = half_life;
  return out;
}

TEST(FairshareBook, CountsWhatJobsHoldAndForgetsIt) {
  Book one(of_cpu());
  one.hold("a", "alice", "2");
  EXPECT_TRUE(one.book.anybody_holds());
  one.pass(1h);
  EXPECT_EQ(one.used("alice"), 5'193'702U);
  one.hold("a", "alice", "0");
  EXPECT_FALSE(one.book.anybody_holds());
  EXPECT_EQ(one.used("alice"), 5'193'702U);
  one.pass(1h);
  EXPECT_EQ(one.used("alice"), 2'596'851U);
  one.book.set({"alice", "a"}, nullptr, one.names);
  one.book.sweep();
  EXPECT_EQ(one.used("alice"), 2'596'851U);
  one.pass(40h);
  one.book.sweep();
  EXPECT_TRUE(one.book.accounts().empty());
}

TEST(FairshareBook, AJobThatMovesTakesItsPlacesAlongAndLeavesItsPast) {
  Book one(of_cpu());
  one.hold("a", "alice", "1");
  one.pass(30min);
  one.hold("a", "alice", "1", "other");
  const std::uint64_t before = one.used("alice");
  EXPECT_EQ(one.used("alice", "other"), 0U);
  one.pass(30min);
  EXPECT_LT(one.used("alice"), before);
  EXPECT_GT(one.used("alice", "other"), 0U);
}

TEST(FairshareBook, OnlyTheQueuesAndTheResourceAskedForCount) {
  FairshareRules rules = of_cpu();
  rules.queues = {"q"};
  rules.resource_of_queue = {{"q", "nvidia.com/gpu"}};
  Book one(rules);
  one.hold("a", "alice", "4");
  one.hold("b", "bob", "4", "elsewhere");
  one.pass(1s);
  // Two devices, in thousandths.
  EXPECT_EQ(one.used("alice"), 1999U);
  EXPECT_EQ(one.book.accounts().size(), 1U);
}

TEST(FairshareBook, AWeightedSumCountsInCoresGibibytesAndDevices) {
  FairshareRules rules;
  rules.resource_weights = {{"cpu", 1000}, {"memory", 500}, {"nvidia.com/gpu", 20'000}};
  ResourceNames names;
  ResourceList list;
  list.set("cpu", 1500);
  list.set("memory", std::int64_t{4} << 30);
  list.set("nvidia.com/gpu", 1);
  const Wide units = rules.units(QueueName("q"), Resource::from(list, names), names);
  EXPECT_EQ(static_cast<std::uint64_t>(units), 1'500'000U + 2'000'000U + 20'000'000U);
  EXPECT_EQ(usage_text(rules, QueueName("q"), units * 3600), "23 weighted hours");
}

TEST(FairshareBook, ANewHalfLifeGoesOnFromWhatThereIs) {
  Book one(of_cpu(1h));
  one.hold("a", "alice", "1");
  one.pass(1h);
  one.hold("a", "alice", "0");
  const std::uint64_t before = one.used("alice");
  one.use(of_cpu(2h));
  one.hold("a", "alice", "0");
  one.pass(2h);
  EXPECT_EQ(one.used("alice"), before / 2);
  // Hours of something else are nothing to go on from.
  FairshareRules other = of_cpu(2h);
  other.resource = "nvidia.com/gpu";
  one.use(other);
  EXPECT_EQ(one.used("alice"), 0U);
}

TEST(FairshareState, ComesBackAsItWasWrittenDecayedAndGrownSince) {
  Book first(of_cpu()), second(of_cpu());
  const WallTime written = *parse_rfc3339("2026-01-01T10:00:00Z");
  first.hold("a", "alice", "2");
  first.hold("b", "bob", "1");
  first.pass(1h);
  first.hold("b", "bob", "0");
  const std::string text = to_text(first.book.state(written));
  const Result<FairshareState> read = parse_fairshare_state(text);
  ASSERT_TRUE(read.has_value()) << text << read.error().message;
  // Alice's job has gone on while nobody looked, Bob's was over.
  second.pass(5s);
  second.hold("a", "alice", "2");
  second.hold("b", "bob", "0");
  second.book.load(*read, written + 1h);
  first.pass(1h);
  EXPECT_EQ(second.used("bob"), first.used("bob"));
  EXPECT_NEAR(static_cast<double>(second.used("alice")), static_cast<double>(first.used("alice")),
              1);
  // From a clock that has been put back since: as it was.
  Book third(of_cpu());
  third.book.load(*read, written - 10h);
  EXPECT_EQ(third.used("bob"), 2'596'851U);
}

TEST(FairshareState, ReadsVolcanosFileAndRefusesWhatIsNone) {
  const auto volcano = parse_fairshare_state(
      R"({"lastCycle": "2026-04-07T12:00:00.123456789Z", "queues": {"gpu": {"alice": 12345.67}}})");
  ASSERT_TRUE(volcano.has_value()) << volcano.error().message;
  EXPECT_EQ(static_cast<std::uint64_t>(volcano->queues.at("gpu").at("alice")), 12345U);
  for (const char* bad :
       {"", "[]", "{", R"({"queues": {}})", R"({"lastCycle": "yesterday"})",
        R"({"lastCycle": "2026-04-07T12:00:00Z", "queues": []})",
        R"({"lastCycle": "2026-04-07T12:00:00Z", "queues": {"q": 3}})",
        R"({"lastCycle": "2026-04-07T12:00:00Z", "queues": {"q": {"alice": -1}}})",
        R"({"lastCycle": "2026-04-07T12:00:00Z", "queues": {"q": {"alice": "1"}}})",
        R"({"lastCycle": "2026-04-07T12:00:00Z", "measures": {"q": 1}})"}) {
    EXPECT_FALSE(parse_fairshare_state(bad).has_value()) << bad;
  }
}

TEST(FairshareState, KeepsTheLargestOfMoreThanAnObjectTakes) {
  FairshareState state;
  state.at = *parse_rfc3339("2026-01-01T00:00:00Z");
  for (int i = 1; i <= 20'000; ++i)
    state.queues["q"]["a-user-with-a-name-" + std::to_string(i)] = static_cast<Wide>(i);
  state.queues["q"]["huge"] = Wide{1} << 90;
  const std::string text = to_text(state);
  EXPECT_LT(text.size(), kMostStateText);
  const Result<FairshareState> read = parse_fairshare_state(text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->queues.at("q").contains("a-user-with-a-name-20000"));
  EXPECT_FALSE(read->queues.at("q").contains("a-user-with-a-name-1"));
  EXPECT_EQ(read->queues.at("q").at("huge"), Wide{1} << 90);
}

TEST(FairshareText, HasTwoDigitsAndNoMore) {
  const FairshareRules rules = of_cpu();
  const auto text = [&](std::uint64_t core_seconds) {
    return usage_text(rules, QueueName("q"), Wide{core_seconds} * 1000);
  };
  EXPECT_EQ(text(35), "less than 0.01 cpu-hours");
  EXPECT_EQ(text(180), "0.05 cpu-hours");
  EXPECT_EQ(text(1800), "0.5 cpu-hours");
  EXPECT_EQ(text(3600), "1 cpu-hours");
  EXPECT_EQ(text(3600 * 9 + 3599), "9.9 cpu-hours");
  EXPECT_EQ(text(3600 * 1234), "1200 cpu-hours");
}

std::vector<std::uint64_t> shares(Wide total, std::vector<std::pair<int, int>> users) {
  std::vector<UserDemand> demands;
  for (const auto& [weight, demand] : users)
    demands.push_back({static_cast<Wide>(weight), static_cast<Wide>(demand)});
  share_out(total, demands);
  std::vector<std::uint64_t> out;
  for (const UserDemand& one : demands) out.push_back(static_cast<std::uint64_t>(one.share));
  return out;
}

TEST(FairshareGate, WhoWantsLittleGetsItAndTheOthersShareTheRest) {
  using Shares = std::vector<std::uint64_t>;
  EXPECT_EQ(shares(12, {{1000, 100}, {1000, 2}, {1000, 100}}), (Shares{5, 2, 5}));
  EXPECT_EQ(shares(12, {{1000, 3}, {1000, 2}}), (Shares{3, 2}));
  EXPECT_EQ(shares(12, {{3000, 100}, {1000, 100}}), (Shares{9, 3}));
  EXPECT_EQ(shares(7, {{1000, 100}, {1000, 100}}), (Shares{4, 4}));
  EXPECT_EQ(shares(0, {{1000, 1}}), (Shares{0}));
}

}  // namespace
}  // namespace krater::scheduler
