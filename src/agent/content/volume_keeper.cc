#include "agent/content/volume_keeper.h"

#include <dirent.h>

#include "agent/shim/files.h"
#include "base/log.h"
#include "model/storage.h"

namespace krater::agent {
namespace {

constexpr Duration kBeat = std::chrono::seconds(5);

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> out;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return out;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.')) out.emplace_back(name);
  }
  ::closedir(directory);
  return out;
}

}  // namespace

VolumeKeeper::~VolumeKeeper() {
  loop_.cancel(timer_);
}

void VolumeKeeper::start() {
  timer_ = loop_.after(kBeat, [this] { look(); });
}

void VolumeKeeper::look() {
  timer_ = loop_.after(kBeat, [this] { look(); });
  for (const std::string& name : names_in(directory_)) ask(name);
}

void VolumeKeeper::ask(const std::string& name) {
  client_.get(kinds::kPersistentVolume, {}, name,
              [this, alive = std::weak_ptr<bool>(alive_)](const Result<ObjectPtr>& found) {
                if (alive.expired() || !found) return;
                const PersistentVolumeView volume(*found);
                if (volume->deletion() && volume.has_finalizer(keys::kDirectoryFinalizer) &&
                    volume.annotation(keys::kVolumeNode) == node_)
                  remove(*found);
              });
}

void VolumeKeeper::remove(const ObjectPtr& volume) {
  const std::string path = directory_ + "/" + volume->name();
  // The path is the server's word; what is removed is this node's own.
  if (PersistentVolumeView(volume).node_path() != path) return;
  if (const Result<void> removed = remove_tree(path); !removed) {
    log::warn("agent.volume_stays", {{"volume", volume->name()}, {"why", removed.error().message}});
    return;
  }
  JsonArray finalizers;
  for (const std::string& one : volume->finalizers()) {
    if (one != keys::kDirectoryFinalizer) finalizers.emplace_back(one);
  }
  client::PatchWrite write{
      kinds::kPersistentVolume,
      {},
      volume->name(),
      client::PatchType::Merge,
      JsonObject{{"metadata",
                  JsonObject{{"finalizers", finalizers.empty() ? Json() : Json(finalizers)}}}}};
  write.only_if = volume->revision();
  client_.write(std::move(write), [name = volume->name()](const Result<ObjectPtr>& done) {
    if (done) {
      log::info("agent.volume_removed", {{"volume", name}});
    } else if (done.error().code != Code::NotFound) {
      log::warn("agent.volume_marked", {{"volume", name}, {"why", done.error().message}});
    }
  });
}

}  // namespace krater::agent
