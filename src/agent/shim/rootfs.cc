#include "agent/shim/rootfs.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/shim/files.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::array<std::string_view, 3> kScratch{"tmp", "var/tmp",
                                                   "run"};  // private and empty in every container
constexpr std::array<const char*, 6> kDevices{"null", "zero", "full", "random", "urandom", "tty"};
constexpr std::array<std::string_view, 12> kDiskTypes{"ext2",  "ext3",     "ext4",     "xfs",
                                                      "btrfs", "zfs",      "nfs",      "nfs4",
                                                      "9p",    "virtiofs", "squashfs", "f2fs"};

Result<void> mount_at(const std::string& source, const std::string& target, const char* type,
                      unsigned long flags, const std::string& options) {
  if (::mount(source.c_str(), target.c_str(), type, flags,
              options.empty() ? nullptr : options.c_str()) != 0) {
    return system_error("mount " + source + " at", target, errno);
  }
  return {};
}

// Opens `path` below `root`; links are followed as if `root` were "/", so that none leads out of
// it.
int open_inside(int root, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// What stands in the way of a place that is to be made: a dangling link (as /etc/resolv.conf often
// is) in the container's own layer gives way; what users keep in a volume does not.
enum class InTheWay { Replaced, Kept };

// The place `path` in the tree, made with its parents when it is missing.
Result<Fd> place_inside(int root, const std::string& path, bool directory,
                        InTheWay in_the_way = InTheWay::Replaced) {
  std::string done;
  Fd parent(open_inside(root, "/", O_PATH | O_DIRECTORY));
  const std::vector<std::string_view> parts = split(path, '/');
  std::vector<std::string> names;
  for (const std::string_view part : parts) {
    if (part == "..")
      return make_error(Code::Invalid, "mount path " + path + " must not contain '..'");
    if (!part.empty() && part != ".") names.emplace_back(part);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    done += "/" + names[i];
    Fd here(open_inside(root, done, O_PATH));
    if (!here && errno == ENOENT) {
      if (in_the_way == InTheWay::Replaced) ::unlinkat(parent.get(), names[i].c_str(), 0);
      if (last && !directory) {
        Fd made(::openat(parent.get(), names[i].c_str(),
                         O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644));
        if (!made) return system_error("create", path, errno);
      } else if (::mkdirat(parent.get(), names[i].c_str(), 0755) != 0) {
        return system_error("mkdir", path, errno);
      }
      here.reset(open_inside(root, done, O_PATH));
    }
    if (!here) return system_error("open", path, errno);
    parent = std::move(here);
  }
  return parent;
}

std::string handle(const Fd& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

// A program may put links into its volume: below a volume none is followed out of it.
Result<Fd> open_source(const Mount& wanted) {
  if (wanted.within.empty()) {
    Fd out(::open(wanted.source.c_str(), O_PATH | O_CLOEXEC));
    if (!out) return system_error("volume", wanted.source, errno);
    return out;
  }
  const Fd volume(::open(wanted.within.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!volume) return system_error("volume", wanted.within, errno);
  const std::string below = wanted.source.substr(wanted.within.size());
  Fd out(open_inside(volume.get(), below, O_PATH));
  if (out) return out;
  if (errno != ENOENT) return system_error("open", wanted.source, errno);
  TRY_ASSIGN(out, place_inside(volume.get(), below, true, InTheWay::Kept));
  // Whoever may write to the volume may write here.
  ::chmod(handle(out).c_str(), 0777);
  return out;
}

Result<void> bind_inside(int root, const Mount& wanted) {
  TRY_ASSIGN(const Fd source, open_source(wanted));
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) return system_error("volume", wanted.source, errno);
  TRY_ASSIGN(const Fd place, place_inside(root, wanted.target, S_ISDIR(info.st_mode)));
  if (::mount(handle(source).c_str(), handle(place).c_str(), nullptr, MS_BIND | MS_REC, nullptr) !=
      0) {
    return system_error("mount " + wanted.source + " at", wanted.target, errno);
  }
  if (!wanted.read_only) return {};
  // The handle still names what lies below the new mount.
  const Fd mounted(open_inside(root, wanted.target, O_PATH));
  if (!mounted) return system_error("open", wanted.target, errno);
  return mount_at("none", handle(mounted), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, {});
}

Result<void> mount_inside(int root, const std::string& target, const char* type,
                          unsigned long flags, const std::string& options) {
  TRY_ASSIGN(const Fd place, place_inside(root, target, true));
  return mount_at(type, handle(place), type, flags, options);
}

// Filesystems of the host other than its root: an overlay shows only the root's.
std::vector<std::string> other_disks() {
  std::vector<std::string> out;
  const Result<std::string> table = read_file("/proc/self/mountinfo");
  if (!table) return out;
  for (const std::string_view line : split(*table, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> left = split(line.substr(0, dash), ' ');
    const std::string_view type = split(line.substr(dash + 3), ' ').front();
    const std::string_view path = left.size() > 4 ? left[4] : std::string_view("/");
    const bool scratch = std::ranges::any_of(kScratch, [&](std::string_view one) {
      return path.substr(1).starts_with(one) &&
             (path.size() == one.size() + 1 || path[one.size() + 1] == '/');
    });
    if (path != "/" && !scratch && std::ranges::find(kDiskTypes, type) != kDiskTypes.end())
      out.emplace_back(path);
  }
  return out;
}

bool below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

Result<void> fill_dev(int root, const RootfsPlan& plan) {
  if (plan.privileged) {
    TRY(bind_inside(root, {"/dev", "/dev", false}));
  } else {
    TRY(mount_inside(root, "/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536k"));
    for (const char* device : kDevices)
      TRY(bind_inside(root, {std::string("/dev/") + device, std::string("/dev/") + device, false}));
    TRY(mount_inside(root, "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                     "newinstance,ptmxmode=0666,mode=0620"));
    const Fd dev(open_inside(root, "/dev", O_RDONLY | O_DIRECTORY));
    constexpr std::array<std::array<const char*, 2>, 5> kLinks{{{"pts/ptmx", "ptmx"},
                                                                {"/proc/self/fd", "fd"},
                                                                {"/proc/self/fd/0", "stdin"},
                                                                {"/proc/self/fd/1", "stdout"},
                                                                {"/proc/self/fd/2", "stderr"}}};
    for (const auto& link : kLinks) ::symlinkat(link[0], dev.get(), link[1]);
  }
  return bind_inside(root, {plan.pod_directory + "/shm", "/dev/shm", false});
}

Result<void> fill_kernel_views(int root, const RootfsPlan& plan) {
  constexpr unsigned long kSafe = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (plan.own_processes) {
    TRY(mount_inside(root, "/proc", "proc", kSafe, {}));
  } else {
    TRY(bind_inside(root, {"/proc", "/proc", false}));
  }
  if (plan.own_network) {
    TRY(mount_inside(root, "/sys", "sysfs", kSafe | (plan.privileged ? 0 : MS_RDONLY), {}));
  } else {
    TRY(bind_inside(root, {"/sys", "/sys", !plan.privileged}));
  }
  if (plan.cgroups.empty()) return {};
  // Programs read their limits here.
  if (plan.cgroups.front().second.empty())
    return bind_inside(root, {plan.cgroups.front().first, "/sys/fs/cgroup", true});
  TRY(mount_inside(root, "/sys/fs/cgroup", "tmpfs", kSafe, "mode=755,size=64k"));
  for (const auto& [group, name] : plan.cgroups)
    TRY(bind_inside(root, {group, "/sys/fs/cgroup/" + name, true}));
  return {};
}

Result<void> hide(int root, const RootfsPlan& plan) {
  for (const std::string& path : plan.hidden) {
    const Fd place(open_inside(root, path, O_PATH | O_DIRECTORY));
    if (place)
      TRY(mount_at("tmpfs", handle(place), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m"));
  }
  for (const std::string& path : plan.kept) {
    const Fd visible(open_inside(root, path, O_PATH));
    if (!visible && ::access(path.c_str(), F_OK) == 0) TRY(bind_inside(root, {path, path, true}));
  }
  return {};
}

}  // namespace

Result<void> prepare_rootfs(const RootfsPlan& plan) {
  // A new run begins with an untouched tree.
  for (const char* part : {"/upper", "/work"}) TRY(remove_tree(plan.directory + part));
  for (const char* part : {"/upper", "/work", "/root"})
    TRY(make_directories(plan.directory + part));
  ::chmod((plan.directory + "/upper").c_str(), 0755);
  for (const std::string_view scratch : kScratch) {
    std::string path = plan.directory + "/upper/" + std::string(scratch);
    TRY(make_directories(path));
    ::chmod(path.c_str(), scratch == "run" ? 0755 : 01777);
    // Opaque: what the host has there does not show through.
    ::setxattr(path.c_str(), "trusted.overlay.opaque", "y", 1, 0);
  }
  return {};
}

Result<void> enter_rootfs(const RootfsPlan& plan) {
  // Nothing done from here on is seen outside.
  TRY(mount_at("none", "/", nullptr, MS_REC | MS_PRIVATE, {}));
  const std::string top = plan.directory + "/root";
  const std::string layers = "lowerdir=" + plan.lower + ",upperdir=" + plan.directory +
                             "/upper,workdir=" + plan.directory + "/work";
  TRY(mount_at("overlay", top, "overlay", 0, layers));
  const Fd root(::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return system_error("open", top, errno);
  if (plan.lower == "/") {
    for (const std::string& disk : other_disks()) {
      const bool hidden = std::ranges::any_of(
          plan.hidden, [&](const std::string& one) { return below(disk, one); });
      if (!hidden) (void)bind_inside(root.get(), {disk, disk, true});
    }
  }
  TRY(hide(root.get(), plan));
  TRY(fill_dev(root.get(), plan));
  TRY(fill_kernel_views(root.get(), plan));
  for (const Mount& file : plan.files) TRY(bind_inside(root.get(), file));
  for (const Mount& volume : plan.mounts) TRY(bind_inside(root.get(), volume));
  if (::fchdir(root.get()) != 0) return system_error("enter", top, errno);
  // Old and new root on top of each other, then the old one is dropped.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return system_error("pivot_root", top, errno);
  if (::umount2(".", MNT_DETACH) != 0) return system_error("leave", "/", errno);
  if (plan.read_only) TRY(mount_at("none", "/", nullptr, MS_REMOUNT | MS_RDONLY, {}));
  if (::chdir("/") != 0) return system_error("enter", "/", errno);
  return {};
}

}  // namespace krater::agent
