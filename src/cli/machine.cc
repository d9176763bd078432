#include "cli/machine.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/strings.h"
#include "cli/files.h"
#include "runtime/system.h"

namespace krater::cli {
namespace {

std::string first_line(const std::string& path) { return std::string(trim(read_file(path).value_or(std::string()))); }

std::int64_t memory_of_machine() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

std::int64_t disk_of(const std::string& directory) {
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) != 0) return 0;
  return static_cast<std::int64_t>(info.f_blocks) * static_cast<std::int64_t>(info.f_frsize);
}

std::string os_image() {
  const std::string release = read_file("/etc/os-release").value_or(std::string());
  for (std::string_view line : split(release, '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    line.remove_prefix(12);
    if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "Linux";
}

Result<Quantity> quantity(const char* option, const std::string& text) {
  Result<Quantity> out = Quantity::parse(text);
  if (!out || out->sign() <= 0) return make_error(Code::BadRequest, std::string(option) + " must be a positive quantity, not \"" + text + "\"");
  return out;
}

}  // namespace

Result<agent::NodeFacts> node_facts(const AgentOptions& options, const std::string& name) {
  agent::NodeFacts out;
  out.name = name;
  out.ip = runtime::primary_address();
  out.cpu_milli = ::sysconf(_SC_NPROCESSORS_ONLN) * 1000;
  out.memory_bytes = memory_of_machine();
  out.ephemeral_bytes = disk_of(options.data_dir);
  if (!options.cpu.empty()) {
    TRY_ASSIGN(const Quantity cpu, quantity("--cpu", options.cpu));
    out.cpu_milli = cpu.milli_value();
  }
  if (!options.memory.empty()) {
    TRY_ASSIGN(const Quantity memory, quantity("--memory", options.memory));
    out.memory_bytes = memory.value();
  }
  return out;
}

agent::NodeInfo node_info(RuntimeKind runtime) {
  agent::NodeInfo out;
  utsname names{};
  if (::uname(&names) == 0) {
    out.kernel_version = names.release;
    const std::string machine = names.machine;
    out.architecture = machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : machine;
  }
  if (runtime == RuntimeKind::Simulated) {
    out.os_image = "simulated";
    out.labels["krater.io/runtime"] = "simulated";
    return out;
  }
  out.os_image = os_image();
  out.machine_id = first_line("/etc/machine-id");
  out.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  out.system_uuid = out.machine_id;
  return out;
}

}  // namespace krater::cli
