#include "agent/shim/cgroup.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "agent/shim/files.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr int kSelf = 4242;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view word : split(text, ' ')) {
    if (!trim(word).empty()) out.emplace_back(trim(word));
  }
  return out;
}

// A kernel's cgroup filesystems in memory, with the rules that decide whether ours works: v2 hands
// controllers down group by group, and never to the children of a group with members.
class FakeKernel final : public GroupFiles {
 public:
  struct Group {
    std::set<int> members;
    std::set<std::string> handed_down;  // cgroup.subtree_control
    std::map<std::string, std::string> files;
  };

  // `container`: the top is not the machine's own, and has members like any other group.
  FakeKernel(std::string mount, bool v2, std::set<std::string> controllers, bool container = false)
      : mount_(std::move(mount)), v2_(v2), given_(std::move(controllers)), container_(container) {
    groups[mount_].members.insert(kSelf);
  }

  Result<std::string> read(const std::string& path) override {
    const auto [group, file] = split_path(path);
    const auto place = groups.find(group);
    if (place == groups.end()) return system_error("open", path, ENOENT);
    std::string out;
    if (file == "cgroup.procs") {
      for (const int pid : place->second.members) out += std::to_string(pid) + "\n";
      return out;
    }
    if (file == "cgroup.subtree_control" && v2_) {
      for (const std::string& one : place->second.handed_down)
        out += (out.empty() ? "" : " ") + one;
      return out + "\n";
    }
    const auto text = place->second.files.find(file);
    if (text == place->second.files.end()) return system_error("open", path, ENOENT);
    return text->second;
  }

  Result<void> write(const std::string& path, const std::string& text) override {
    const auto [group, file] = split_path(path);
    const auto place = groups.find(group);
    if (place == groups.end()) return system_error("open", path, ENOENT);
    Group& here = place->second;
    if (file == "cgroup.procs") {
      if (v2_ && !exempt(group) && !here.handed_down.empty()) return refused(path, EBUSY);
      const int pid = text == "0" ? kSelf : static_cast<int>(parse_int(text).value_or(-1));
      for (auto& [name, other] : groups) other.members.erase(pid);
      here.members.insert(pid);
      return {};
    }
    if (file == "cgroup.subtree_control" && v2_) {
      for (const std::string& word : words(text)) {
        if (!controllers_of(group).contains(word.substr(1))) return refused(path, ENOENT);
        if (!exempt(group) && !here.members.empty()) return refused(path, EBUSY);
        here.handed_down.insert(word.substr(1));
      }
      return {};
    }
    // Interface files are there for the controllers a group was given; the top has no limits.
    const std::string controller = file.substr(0, file.find('.'));
    if (group == mount_ || !controllers_of(group).contains(controller) ||
        (no_swap && file.find("sw") != std::string::npos))
      return system_error("open", path, ENOENT);
    here.files[file] = text;
    return {};
  }

  int make(const std::string& group) override {
    if (groups.contains(group)) return EEXIST;
    if (!groups.contains(split_path(group).first)) return ENOENT;
    groups[group];
    return 0;
  }
  int remove(const std::string& group) override {
    const auto place = groups.find(group);
    if (place == groups.end()) return ENOENT;
    if (!place->second.members.empty() || !children(group).empty()) return EBUSY;
    groups.erase(place);
    return 0;
  }
  std::vector<std::string> children(const std::string& group) override {
    std::vector<std::string> out;
    for (const auto& [name, one] : groups) {
      const auto [parent, last] = split_path(name);
      if (parent == group && name != mount_) out.push_back(last);
    }
    return out;
  }
  void kill(int pid) override { dying_.insert(pid); }
  void pause() override {
    for (auto& [name, group] : groups) {
      for (const int pid : dying_) group.members.erase(pid);
    }
  }

  std::int64_t processors() override { return 2; }

  std::map<std::string, Group> groups;
  bool no_swap = false;

 private:
  static std::pair<std::string, std::string> split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  static Error refused(const std::string& path, int why) {
    return system_error("write", path, why);
  }
  bool exempt(const std::string& group) const { return group == mount_ && !container_; }
  std::set<std::string> controllers_of(const std::string& group) {
    if (group == mount_ || !v2_) return given_;
    return groups.at(split_path(group).first).handed_down;
  }

  std::string mount_;
  bool v2_;
  std::set<std::string> given_;
  bool container_;
  std::set<int> dying_;
};

const std::string kPod = "/cg/krater/podu1", kMain = kPod + "/main";

Cgroups v2(FakeKernel& kernel) {
  return Cgroups({{"/cg", {"memory", "cpu", "pids"}, true}}, "krater", "u1", kernel);
}

TEST(CgroupV2, LimitsAreWrittenInItsFormats) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids", "io"});
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  const Result<void> made = groups.make("main", {64 << 20, 250, 100});
  ASSERT_TRUE(made) << made.error().message;
  const std::map<std::string, std::string> wanted{{"memory.oom.group", "1"},
                                                  {"memory.max", "67108864"},
                                                  {"memory.swap.max", "0"},
                                                  {"cpu.weight", "4"},
                                                  {"cpu.max", "25000 100000"}};
  EXPECT_EQ(kernel.groups[kMain].files, wanted);
  ASSERT_TRUE(groups.enter("main"));
  EXPECT_EQ(kernel.groups[kMain].members, std::set<int>{kSelf});
  for (const std::string& inner : {std::string("/cg/krater"), kPod})
    EXPECT_TRUE(kernel.groups[inner].members.empty()) << "no process in an inner group";
}

TEST(CgroupV2, WithoutLimitsNothingIsHeldBack) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"});
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  ASSERT_TRUE(groups.make("main", {}));
  EXPECT_FALSE(kernel.groups[kMain].files.contains("memory.max"));
  EXPECT_FALSE(kernel.groups[kMain].files.contains("cpu.max"));
  EXPECT_EQ(kernel.groups[kMain].files["cpu.weight"], "1");
}

TEST(CgroupV2, AKernelThatDoesNotCountSwapWillDo) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"});
  kernel.no_swap = true;
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  ASSERT_TRUE(groups.make("main", {1 << 20, 0, 0}));
  EXPECT_EQ(kernel.groups[kMain].files["memory.max"], "1048576");
}

TEST(CgroupV2, InAContainerTheProcessesAtTheTopMoveAside) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"}, true);
  kernel.groups["/cg"].members.insert(7);
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  EXPECT_TRUE(kernel.groups["/cg"].members.empty());
  EXPECT_EQ(kernel.groups["/cg/krater-host"].members, (std::set<int>{7, kSelf}));
  EXPECT_EQ(kernel.groups[kPod].handed_down, (std::set<std::string>{"cpu", "memory", "pids"}));
}

TEST(CgroupV2, AControllerThatIsNotGivenIsNamedAndTheOthersServe) {
  FakeKernel kernel("/cg", true, {"cpu", "pids"});
  Cgroups groups = v2(kernel);
  EXPECT_EQ(groups.prepare(),
            std::vector<std::string>{"no limits by /cg: it does not give memory"});
  ASSERT_TRUE(groups.make("main", {64 << 20, 250, 0}));
  EXPECT_EQ(kernel.groups[kMain].files["cpu.max"], "25000 100000");
  EXPECT_FALSE(kernel.groups[kMain].files.contains("memory.max"));
  EXPECT_FALSE(groups.out_of_memory("main"));
}

TEST(CgroupV2, KillsOfTheKernelAreReadFromItsEvents) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"});
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  ASSERT_TRUE(groups.make("main", {}));
  std::string& events = kernel.groups[kMain].files["memory.events"];
  events = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n";
  EXPECT_FALSE(groups.out_of_memory("main"));
  events = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n";
  EXPECT_TRUE(groups.out_of_memory("main"));
  ASSERT_TRUE(groups.make("main", {}));
  EXPECT_FALSE(groups.out_of_memory("main")) << "a new run counts anew";
}

TEST(CgroupV2, RemovingKillsWhatIsLeftAndLeavesOthersAlone) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"});
  Cgroups mine = v2(kernel);
  Cgroups other({{"/cg", {"memory", "cpu", "pids"}, true}}, "krater", "u2", kernel);
  EXPECT_TRUE(mine.prepare().empty());
  EXPECT_TRUE(other.prepare().empty());
  ASSERT_TRUE(mine.make("main", {}));
  kernel.groups[kMain].members.insert(77);
  kernel.make(kMain + "/nested");
  kernel.groups[kMain + "/nested"].members.insert(78);
  mine.remove_all();
  EXPECT_FALSE(kernel.groups.contains(kPod));
  EXPECT_TRUE(kernel.groups.contains("/cg/krater/podu2"));
  other.remove_all();
  EXPECT_FALSE(kernel.groups.contains("/cg/krater"));
}

TEST(CgroupV1, LimitsAreWrittenInItsFormats) {
  FakeKernel memory("/cg", false, {"memory"}), cpu("/cg", false, {"cpu"});
  Cgroups first({{"/cg", {"memory"}, false}}, "krater", "u1", memory);
  EXPECT_TRUE(first.prepare().empty());
  ASSERT_TRUE(first.make("main", {64 << 20, 250, 100}));
  EXPECT_EQ(memory.groups[kMain].files,
            (std::map<std::string, std::string>{{"memory.limit_in_bytes", "67108864"},
                                                {"memory.memsw.limit_in_bytes", "67108864"}}));
  Cgroups second({{"/cg", {"cpu"}, false}}, "krater", "u1", cpu);
  EXPECT_TRUE(second.prepare().empty());
  ASSERT_TRUE(second.make("main", {64 << 20, 250, 100}));
  EXPECT_EQ(
      cpu.groups[kMain].files,
      (std::map<std::string, std::string>{
          {"cpu.shares", "102"}, {"cpu.cfs_period_us", "100000"}, {"cpu.cfs_quota_us", "25000"}}));
  memory.groups[kMain].files["memory.oom_control"] =
      "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
  EXPECT_TRUE(first.out_of_memory("main"));
}

TEST(CgroupShares, APodWeighsWhatItsLivingContainersAskForAndAllPodsWhatTheMachineHas) {
  FakeKernel kernel("/cg", false, {"cpu"});
  Cgroups groups({{"/cg", {"cpu"}, false}}, "krater", "u1", kernel);
  EXPECT_TRUE(groups.prepare().empty());
  EXPECT_EQ(kernel.groups["/cg/krater"].files["cpu.shares"], "2048");
  const auto pod = [&] { return kernel.groups[kPod].files["cpu.shares"]; };
  const auto start = [&](const std::string& name, std::int64_t milli, int pid) {
    ASSERT_TRUE(groups.make(name, {0, 0, milli}));
    kernel.groups[kPod + "/" + name].members.insert(pid);
  };
  start("init", 4000, 10);
  EXPECT_EQ(pod(), "4096");
  kernel.groups[kPod + "/init"].members.clear();  // it is done
  start("main", 500, 11);
  EXPECT_EQ(pod(), "512");
  start("sidecar", 250, 12);
  EXPECT_EQ(pod(), "768");
  start("main", 500, 13);  // again: counted once
  EXPECT_EQ(pod(), "768");
}

TEST(CgroupShares, AreWeightsInV2) {
  FakeKernel kernel("/cg", true, {"memory", "cpu", "pids"});
  Cgroups groups = v2(kernel);
  EXPECT_TRUE(groups.prepare().empty());
  ASSERT_TRUE(groups.make("main", {0, 0, 1000}));
  EXPECT_EQ(kernel.groups["/cg/krater"].files["cpu.weight"], "79");
  EXPECT_EQ(kernel.groups[kPod].files["cpu.weight"], "39");
}

TEST(CgroupMounts, V1IsUsedWhereItHasTheControllersAndV2Otherwise) {
  const std::string unified =
      "30 25 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
  const auto hybrid = Cgroups::find_hierarchies(
      unified +
      "31 25 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
      "32 25 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "33 25 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
  ASSERT_EQ(hybrid.size(), 2U);
  EXPECT_EQ(hybrid[0].mount, "/sys/fs/cgroup/memory");
  EXPECT_EQ(hybrid[1].controllers, std::vector<std::string>{"cpu"});
  const auto plain = Cgroups::find_hierarchies(unified);
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_TRUE(plain[0].v2);
  EXPECT_EQ(plain[0].mount, "/sys/fs/cgroup/unified");
  EXPECT_TRUE(Cgroups::find_hierarchies("garbage\n\n").empty());
}

TEST(CgroupWeights, AreAKubelets) {
  struct Case {
    std::int64_t milli, shares, weight;
  };
  for (const Case& one : {Case{0, 2, 1}, Case{1, 2, 1}, Case{100, 102, 4}, Case{1000, 1024, 39},
                          Case{4000, 4096, 157}, Case{1'000'000, 262'144, 10'000}}) {
    EXPECT_EQ(cpu_shares(one.milli), one.shares) << one.milli;
    EXPECT_EQ(cpu_weight(one.shares), one.weight) << one.milli;
  }
}

}  // namespace
}  // namespace krater::agent
