#include "agent/content/volume_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "agent/shim/files.h"

namespace krater::agent {
namespace {

std::set<std::string> top_names(const std::vector<VolumeFile>& files) {
  std::set<std::string> out;
  for (const VolumeFile& file : files) out.insert(file.path.substr(0, file.path.find('/')));
  return out;
}

std::vector<std::string> entries(const std::string& path) {
  std::vector<std::string> out;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return out;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  ::closedir(directory);
  return out;
}

void count_files(const std::string& path, std::size_t& count) {
  for (const std::string& name : entries(path)) {
    struct stat info {};
    if (::lstat((path + "/" + name).c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      count_files(path + "/" + name, count);
    } else {
      ++count;
    }
  }
}

bool up_to_date(const Volume& volume) {
  if (::access((volume.path + "/..data").c_str(), F_OK) != 0) return false;
  std::size_t there = 0;
  count_files(volume.path + "/..data/.", there);
  if (there != volume.files.size()) return false;
  return std::ranges::all_of(volume.files, [&](const VolumeFile& file) {
    const std::string path = volume.path + "/..data/" + file.path;
    const Result<std::string> has = read_file(path);
    struct stat info {};
    return has && *has == file.bytes && ::stat(path.c_str(), &info) == 0 &&
           (info.st_mode & 0777U) == file.mode;
  });
}

Result<void> give_to(const std::string& path, unsigned mode, std::optional<std::int64_t> group) {
  if (::chmod(path.c_str(), mode) != 0) return system_error("set mode of", path, errno);
  if (group && ::geteuid() == 0 &&
      ::lchown(path.c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(*group)) != 0) {
    return system_error("set group of", path, errno);
  }
  return {};
}

// A directory beside the current one; its name starts with two dots, which no key can.
std::string fresh_name(const std::string& path) {
  for (int n = 1;; ++n) {
    const std::string name = "..set_" + std::to_string(n);
    if (::access((path + "/" + name).c_str(), F_OK) != 0) return name;
  }
}

Result<void> write_files(const Volume& volume, std::optional<std::int64_t> group) {
  TRY(make_directories(volume.path));
  if (up_to_date(volume)) return {};
  const std::string fresh = fresh_name(volume.path);
  const std::string directory = volume.path + "/" + fresh;
  TRY(make_directories(directory));
  for (const VolumeFile& file : volume.files) {
    const std::string path = directory + "/" + file.path;
    TRY(make_directories(path.substr(0, path.rfind('/'))));
    TRY(replace_file(path, file.bytes));
    // A group of its own must be able to read what it was given for.
    TRY(give_to(path, group ? file.mode | 0040U : file.mode, group));
  }
  const std::string next = volume.path + "/..data_tmp", current = volume.path + "/..data";
  ::unlink(next.c_str());
  if (::symlink(fresh.c_str(), next.c_str()) != 0 || ::rename(next.c_str(), current.c_str()) != 0) {
    return system_error("switch", current, errno);
  }
  const std::set<std::string> names = top_names(volume.files);
  for (const std::string& name : names) {
    const std::string link = volume.path + "/" + name;
    if (::symlink(("..data/" + name).c_str(), link.c_str()) != 0 && errno != EEXIST)
      return system_error("link", link, errno);
  }
  for (const std::string& name : entries(volume.path)) {
    const bool old_set = name.starts_with("..set_") && name != fresh;
    const bool stale_link = !name.starts_with("..") && !names.contains(name);
    if (old_set || stale_link) TRY(remove_tree(volume.path + "/" + name));
  }
  return {};
}

Result<void> prepare_host_path(const Volume& volume) {
  if (volume.host_path_type == "DirectoryOrCreate") return make_directories(volume.path);
  if (volume.host_path_type == "FileOrCreate") {
    const Fd file(::open(volume.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file) return system_error("create", volume.path, errno);
    return {};
  }
  struct stat info {};
  if (::stat(volume.path.c_str(), &info) != 0)
    return make_error(Code::Unavailable, "hostPath " + volume.path + " does not exist on the node");
  const bool wrong = (volume.host_path_type == "Directory" && !S_ISDIR(info.st_mode)) ||
                     (volume.host_path_type == "File" && !S_ISREG(info.st_mode)) ||
                     (volume.host_path_type == "Socket" && !S_ISSOCK(info.st_mode));
  if (wrong)
    return make_error(Code::Unavailable, "hostPath type check failed: " + volume.path +
                                             " is not a " + volume.host_path_type);
  return {};
}

void add_usage(const std::string& path, std::int64_t& bytes, int& budget) {
  for (const std::string& name : entries(path)) {
    if (--budget < 0) return;
    struct stat info {};
    const std::string child = path + "/" + name;
    if (::lstat(child.c_str(), &info) != 0) continue;
    bytes += static_cast<std::int64_t>(info.st_blocks) * 512;
    if (S_ISDIR(info.st_mode)) add_usage(child, bytes, budget);
  }
}

}  // namespace

std::int64_t disk_usage(const std::string& path) {
  std::int64_t bytes = 0;
  int budget = 100'000;
  add_usage(path, bytes, budget);
  return bytes;
}

Result<void> write_volume(const Volume& volume, std::optional<std::int64_t> group) {
  switch (volume.kind) {
    case Volume::Kind::EmptyDir:
    case Volume::Kind::Directory:
      if (::access(volume.path.c_str(), F_OK) == 0) return {};
      TRY(make_directories(volume.path));
      return give_to(volume.path, group ? 02777U : 0777U, group);
    case Volume::Kind::Memory:
      return {};  // mounted with the sandbox
    case Volume::Kind::HostPath:
      return prepare_host_path(volume);
    case Volume::Kind::Files:
      return write_files(volume, group);
  }
  return {};
}

}  // namespace krater::agent
