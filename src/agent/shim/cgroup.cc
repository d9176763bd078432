#include "agent/shim/cgroup.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include "agent/shim/files.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::int64_t kPeriodMicros = 100'000;

bool has(const Cgroups::Hierarchy& hierarchy, std::string_view controller) {
  return std::ranges::find(hierarchy.controllers, controller) != hierarchy.controllers.end();
}

class KernelGroupFiles final : public GroupFiles {
 public:
  Result<std::string> read(const std::string& path) override { return read_file(path); }
  Result<void> write(const std::string& path, const std::string& text) override {
    return write_file(path, text);
  }
  int make(const std::string& group) override {
    return ::mkdir(group.c_str(), 0755) == 0 ? 0 : errno;
  }
  int remove(const std::string& group) override { return ::rmdir(group.c_str()) == 0 ? 0 : errno; }
  std::vector<std::string> children(const std::string& group) override {
    std::vector<std::string> out;
    DIR* directory = ::opendir(group.c_str());
    if (directory == nullptr) return out;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (entry->d_type == DT_DIR && name != "." && name != "..") out.emplace_back(name);
    }
    ::closedir(directory);
    return out;
  }
  void kill(int pid) override { ::kill(pid, SIGKILL); }
  void pause() override {
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  std::int64_t processors() override { return ::sysconf(_SC_NPROCESSORS_ONLN); }
};

// Of a group among its siblings.
std::pair<std::string, std::string> weight(const Cgroups::Hierarchy& hierarchy,
                                           std::int64_t request_milli) {
  const std::int64_t shares = cpu_shares(request_milli);
  if (hierarchy.v2) return {"/cpu.weight", std::to_string(cpu_weight(shares))};
  return {"/cpu.shares", std::to_string(shares)};
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view line : split(text, '\n')) {
    for (const std::string_view word : split(line, ' ')) {
      if (!word.empty()) out.emplace_back(word);
    }
  }
  return out;
}

}  // namespace

GroupFiles& kernel_group_files() {
  static KernelGroupFiles files;
  return files;
}

std::int64_t cpu_shares(std::int64_t request_milli) {
  return std::clamp<std::int64_t>(request_milli * 1024 / 1000, 2, 262'144);
}

std::int64_t cpu_weight(std::int64_t shares) {
  return 1 + (shares - 2) * 9999 / 262'142;
}

std::vector<Cgroups::Hierarchy> Cgroups::find_hierarchies(const std::string& mountinfo) {
  std::vector<Hierarchy> v1;
  std::string v2_mount;
  for (const std::string_view line : split(mountinfo, '\n')) {
    // ID PARENT MAJ:MIN ROOT MOUNTPOINT OPTIONS [TAGS…] - TYPE SOURCE SUPEROPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> left = split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    if (right[0] == "cgroup2" && v2_mount.empty()) v2_mount = std::string(left[4]);
    if (right[0] != "cgroup") continue;
    Hierarchy found{std::string(left[4]), {}, false};
    for (const std::string_view option : split(right[2], ',')) {
      if (option == "memory" || option == "cpu" || option == "pids")
        found.controllers.emplace_back(option);
    }
    if (!found.controllers.empty()) v1.push_back(std::move(found));
  }
  if (!v1.empty()) return v1;
  if (!v2_mount.empty()) return {Hierarchy{v2_mount, {"memory", "cpu", "pids"}, true}};
  return {};
}

std::string Cgroups::directory(const Hierarchy& hierarchy, const std::string& container) const {
  return hierarchy.mount + "/" + parent_ + "/pod" + pod_ +
         (container.empty() ? "" : "/" + container);
}

// True when a process was there to be killed.
bool Cgroups::kill_members(const std::string& group) {
  const Result<std::string> text = files_->read(group + "/cgroup.procs");
  if (!text) return false;
  bool any = false;
  for (const std::string_view line : split(*text, '\n')) {
    if (const auto pid = parse_int(line); pid && *pid > 1 && *pid != ::getpid()) {
      files_->kill(static_cast<int>(*pid));
      any = true;
    }
  }
  return any;
}

void Cgroups::remove_group(const std::string& group) {
  for (const std::string& child : files_->children(group)) remove_group(group + "/" + child);
  // Killed processes take a moment to leave the group; the kernel refuses to remove it before.
  for (int tries = 0; tries < 200; ++tries) {
    const bool busy = kill_members(group);
    const int failure = files_->remove(group);
    if (failure == 0 || failure == ENOENT) return;
    if (!busy && failure != EBUSY) return;
    files_->pause();
  }
}

// v2 gives no controllers to the children of a group that has processes of its own. In a container
// that is so at its top, where everything starts; those processes move into a group beside ours.
bool Cgroups::clear_inner_group(const std::string& group) {
  const Result<std::string> members = files_->read(group + "/cgroup.procs");
  const std::string aside = group + "/krater-host";
  if (!members || words(*members).empty() || !make_group(aside)) return false;
  for (const std::string& pid : words(*members)) (void)files_->write(aside + "/cgroup.procs", pid);
  return true;
}

Result<void> Cgroups::make_group(const std::string& path) {
  if (const int failure = files_->make(path); failure != 0 && failure != EEXIST)
    return system_error("mkdir", path, failure);
  return {};
}

Result<void> Cgroups::prepare(Hierarchy& hierarchy) {
  const std::string top = hierarchy.mount + "/" + parent_, pod = directory(hierarchy, {});
  std::vector<std::string> given = hierarchy.controllers;
  for (const std::string& path : {hierarchy.mount, top, pod}) {
    if (path != hierarchy.mount) TRY(make_group(path));
    if (!hierarchy.v2) continue;
    // One at a time: the kernel takes a line as a whole or not at all.
    for (const std::string& controller : hierarchy.controllers) {
      const auto enable = [&] {
        return files_->write(path + "/cgroup.subtree_control", "+" + controller);
      };
      if (!enable() && path == hierarchy.mount && clear_inner_group(path)) (void)enable();
    }
    const Result<std::string> text = files_->read(path + "/cgroup.subtree_control");
    given = text ? words(*text) : std::vector<std::string>();
  }
  std::erase_if(hierarchy.controllers, [&](const std::string& one) {
    return std::ranges::find(given, one) == given.end();
  });
  // All pods together are as heavy as the processors they may use: without this a busy machine
  // would give them no more than one process of somebody else's.
  if (has(hierarchy, "cpu")) {
    const auto [file, text] = weight(hierarchy, files_->processors() * 1000);
    (void)files_->write(top + file, text);
  }
  return {};
}

bool Cgroups::lives(const std::string& group) {
  const Result<std::string> members = files_->read(group + "/cgroup.procs");
  return members && !words(*members).empty();
}

// Init containers that are done ask for nothing any more.
std::int64_t Cgroups::requested_by_the_living(const Hierarchy& hierarchy,
                                              const std::string& newest) {
  std::int64_t milli = 0;
  for (const auto& [name, request] : requests_milli_) {
    if (name == newest || lives(directory(hierarchy, name))) milli += request;
  }
  return milli;
}

std::vector<std::string> Cgroups::prepare() {
  std::vector<std::string> complaints;
  std::vector<Hierarchy> usable;
  for (Hierarchy& hierarchy : hierarchies_) {
    const std::vector<std::string> wanted = hierarchy.controllers;
    if (const Result<void> made = prepare(hierarchy); !made) {
      complaints.push_back("no limits by " + hierarchy.mount + ": " + made.error().message);
      continue;
    }
    for (const std::string& one : wanted) {
      if (!has(hierarchy, one))
        complaints.push_back("no limits by " + hierarchy.mount + ": it does not give " + one);
    }
    usable.push_back(std::move(hierarchy));
  }
  hierarchies_ = std::move(usable);
  return complaints;
}

Result<void> Cgroups::make(const std::string& container, const CgroupLimits& limits) {
  requests_milli_[container] = limits.cpu_request_milli;
  for (const Hierarchy& hierarchy : hierarchies_) {
    const std::string group = directory(hierarchy, container);
    remove_group(group);
    TRY(make_group(group));
    // A program that has outgrown its limit goes as a whole, as with a kubelet.
    if (hierarchy.v2 && has(hierarchy, "memory"))
      (void)files_->write(group + "/memory.oom.group", "1");
    if (has(hierarchy, "memory") && limits.memory_bytes > 0) {
      const std::string bytes = std::to_string(limits.memory_bytes);
      TRY(files_->write(group + (hierarchy.v2 ? "/memory.max" : "/memory.limit_in_bytes"), bytes));
      // No swap beyond the limit, where swap is counted.
      (void)files_->write(
          group + (hierarchy.v2 ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"),
          hierarchy.v2 ? "0" : bytes);
    }
    if (has(hierarchy, "cpu")) {
      const auto [file, own] = weight(hierarchy, limits.cpu_request_milli);
      TRY(files_->write(group + file, own));
      const std::string all =
          weight(hierarchy, requested_by_the_living(hierarchy, container)).second;
      TRY(files_->write(directory(hierarchy, {}) + file, all));
      if (limits.cpu_limit_milli > 0) {
        const std::int64_t quota =
            std::max<std::int64_t>(limits.cpu_limit_milli * kPeriodMicros / 1000, 1000);
        if (hierarchy.v2) {
          TRY(files_->write(group + "/cpu.max",
                            std::to_string(quota) + " " + std::to_string(kPeriodMicros)));
        } else {
          TRY(files_->write(group + "/cpu.cfs_period_us", std::to_string(kPeriodMicros)));
          TRY(files_->write(group + "/cpu.cfs_quota_us", std::to_string(quota)));
        }
      }
    }
  }
  return {};
}

Result<void> Cgroups::enter(const std::string& container) {
  for (const Hierarchy& hierarchy : hierarchies_)
    TRY(files_->write(directory(hierarchy, container) + "/cgroup.procs", "0"));
  return {};
}

bool Cgroups::out_of_memory(const std::string& container) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    if (!has(hierarchy, "memory")) continue;
    const Result<std::string> text =
        files_->read(directory(hierarchy, container) +
                     (hierarchy.v2 ? "/memory.events" : "/memory.oom_control"));
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (line.starts_with("oom_kill ")) return parse_int(line.substr(9)).value_or(0) > 0;
    }
  }
  return false;
}

void Cgroups::remove_all() {
  for (const Hierarchy& hierarchy : hierarchies_) {
    remove_group(directory(hierarchy, {}));
    // The common parent goes with its last pod; it is not empty otherwise.
    files_->remove(hierarchy.mount + "/" + parent_);
  }
}

}  // namespace krater::agent
