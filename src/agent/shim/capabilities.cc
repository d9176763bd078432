#include "agent/shim/capabilities.h"

#include <linux/capability.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace krater::agent {
namespace {

// In the kernel's order: the place is the number.
constexpr std::array<std::string_view, 41> kNames{"CHOWN",
                                                  "DAC_OVERRIDE",
                                                  "DAC_READ_SEARCH",
                                                  "FOWNER",
                                                  "FSETID",
                                                  "KILL",
                                                  "SETGID",
                                                  "SETUID",
                                                  "SETPCAP",
                                                  "LINUX_IMMUTABLE",
                                                  "NET_BIND_SERVICE",
                                                  "NET_BROADCAST",
                                                  "NET_ADMIN",
                                                  "NET_RAW",
                                                  "IPC_LOCK",
                                                  "IPC_OWNER",
                                                  "SYS_MODULE",
                                                  "SYS_RAWIO",
                                                  "SYS_CHROOT",
                                                  "SYS_PTRACE",
                                                  "SYS_PACCT",
                                                  "SYS_ADMIN",
                                                  "SYS_BOOT",
                                                  "SYS_NICE",
                                                  "SYS_RESOURCE",
                                                  "SYS_TIME",
                                                  "SYS_TTY_CONFIG",
                                                  "MKNOD",
                                                  "LEASE",
                                                  "AUDIT_WRITE",
                                                  "AUDIT_CONTROL",
                                                  "SETFCAP",
                                                  "MAC_OVERRIDE",
                                                  "MAC_ADMIN",
                                                  "SYSLOG",
                                                  "WAKE_ALARM",
                                                  "BLOCK_SUSPEND",
                                                  "AUDIT_READ",
                                                  "PERFMON",
                                                  "BPF",
                                                  "CHECKPOINT_RESTORE"};

Result<std::set<int>> numbers(const std::vector<std::string>& names) {
  std::set<int> out;
  for (const std::string& name : names) {
    const auto place = std::ranges::find(kNames, name);
    if (name == "ALL") {
      for (std::size_t i = 0; i < kNames.size(); ++i) out.insert(static_cast<int>(i));
    } else if (place != kNames.end()) {
      out.insert(static_cast<int>(place - kNames.begin()));
    } else {
      return make_error(Code::BadRequest, "there is no capability " + name);
    }
  }
  return out;
}

}  // namespace

Result<std::set<int>> kept_capabilities(const ContainerRun& run) {
  std::set<int> out{CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FSETID,           CAP_FOWNER,
                    CAP_MKNOD,   CAP_NET_RAW,      CAP_SETGID,           CAP_SETUID,
                    CAP_SETFCAP, CAP_SETPCAP,      CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT,
                    CAP_KILL,    CAP_AUDIT_WRITE};
  TRY_ASSIGN(const std::set<int> dropped, numbers(run.drop_capabilities));
  TRY_ASSIGN(const std::set<int> added, numbers(run.add_capabilities));
  for (const int one : dropped) out.erase(one);
  out.insert(added.begin(), added.end());
  return out;
}

}  // namespace krater::agent
