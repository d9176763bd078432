#include "agent/content/volumes.h"

#include <algorithm>

#include "agent/content/downward.h"
#include "agent/content/pod_limits.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "model/storage.h"

namespace krater::agent {
namespace {

bool leads_out(std::string_view path) {
  if (path.starts_with('/')) return true;
  const std::vector<std::string_view> parts = split(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

unsigned mode_at(const Json& json, std::string_view field, unsigned fallback) {
  const auto mode = int_at(json, {field});
  return mode ? static_cast<unsigned>(*mode) & 0777U : fallback;
}

Error missing(const std::string& what) {
  return make_error(Code::Unavailable, what);
}

// Keys of a ConfigMap or Secret as files: those listed under items, or all.
Result<void> add_values(const Json& source, std::string_view kind, const std::string& name,
                        bool known, const std::map<std::string, std::string>& values, unsigned mode,
                        std::vector<VolumeFile>& out) {
  const bool optional = bool_at(source, {"optional"}).value_or(false);
  if (!known) {
    if (optional) return {};
    return missing(std::string(kind) + " \"" + name + "\" not found");
  }
  const JsonArray* items = array_at(source, {"items"});
  if (items == nullptr || items->empty()) {
    for (const auto& [key, value] : values) out.push_back({key, value, mode});
    return {};
  }
  for (const Json& item : *items) {
    const std::string key = text_at(item, {"key"}), path = text_at(item, {"path"});
    const auto value = values.find(key);
    if (value == values.end()) {
      if (optional) continue;
      return missing("references non-existent " + std::string(kind) + " key: " + key);
    }
    if (leads_out(path))
      return make_error(Code::Invalid, "volume path " + path + " leads out of the volume");
    out.push_back({path, value->second, mode_at(item, "mode", mode)});
  }
  return {};
}

Result<void> add_config(const Json& source, const Sources& sources, unsigned mode,
                        std::vector<VolumeFile>& out) {
  const std::string name = text_at(source, {"name"});
  return add_values(source, "configmap", name, sources.config_maps.contains(name),
                    sources.config_values(name), mode, out);
}

Result<void> add_secret(const Json& source, std::string_view name_field, const Sources& sources,
                        unsigned mode, std::vector<VolumeFile>& out) {
  const std::string name = text_at(source, {name_field});
  return add_values(source, "secret", name, sources.secrets.contains(name),
                    sources.secret_values(name), mode, out);
}

Result<void> add_downward(const Json& source, const PodFacts& pod, unsigned mode,
                          std::vector<VolumeFile>& out) {
  const JsonArray* items = array_at(source, {"items"});
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const Json& item = (*items)[i];
    VolumeFile file{text_at(item, {"path"}), {}, mode_at(item, "mode", mode)};
    if (leads_out(file.path))
      return make_error(Code::Invalid, "volume path " + file.path + " leads out of the volume");
    if (const auto path = string_at(item, {"fieldRef", "fieldPath"})) {
      TRY_ASSIGN(file.bytes, field_value(*path, pod));
    } else if (const Json* resource = find(item, {"resourceFieldRef"})) {
      TRY_ASSIGN(file.bytes, resource_value(*resource, Json(JsonObject()), pod));
    }
    out.push_back(std::move(file));
  }
  return {};
}

Result<void> add_projected(const Json& projected, const PodFacts& pod, const Sources& sources,
                           std::vector<VolumeFile>& out) {
  const unsigned mode = mode_at(projected, "defaultMode", 0644);
  const JsonArray* list = array_at(projected, {"sources"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& source = (*list)[i];
    if (const Json* config = find(source, {"configMap"}))
      TRY(add_config(*config, sources, mode, out));
    if (const Json* secret = find(source, {"secret"}))
      TRY(add_secret(*secret, "name", sources, mode, out));
    if (const Json* downward = find(source, {"downwardAPI"}))
      TRY(add_downward(*downward, pod, mode, out));
    if (const Json* token = find(source, {"serviceAccountToken"})) {
      const auto place = sources.tokens.find(
          {text_at(*token, {"audience"}), int_at(*token, {"expirationSeconds"}).value_or(3600)});
      if (place == sources.tokens.end())
        return missing("the service account's token is not there yet");
      out.push_back({text_at(*token, {"path"}), place->second, mode});
    }
  }
  return {};
}

std::int64_t size_limit(const Json& volume) {
  const auto text = string_at(volume, {"emptyDir", "sizeLimit"});
  const Result<Quantity> limit = text ? Quantity::parse(*text) : Quantity();
  return limit ? limit->value() : 0;
}

bool in_memory(const Json& volume) {
  return text_at(volume, {"emptyDir", "medium"}) == "Memory";
}

// Where the volume lies that the claim has.
Result<void> use_claim(const std::string& name, const PodFacts& pod, const Sources& sources,
                       Volume& out) {
  const auto place = sources.claims.find(name);
  if (place == sources.claims.end())
    return missing("persistentvolumeclaim \"" + name + "\" not found");
  const PersistentVolumeClaimView claim(place->second.claim);
  if (claim->deletion())
    return missing("can't start pod because PVC " + claim->name_space() + "/" + name +
                   " is being deleted");
  if (!claim.bound() || claim.phase() != "Bound") return missing("PVC is not bound");
  const PersistentVolumeView volume(place->second.volume);
  if (!volume) return missing("persistentvolume \"" + claim.volume_name() + "\" not found");
  if (volume.claim_uid() != claim->uid()) {
    return missing("persistentVolume " + volume->name() + " is bound to another claim than " +
                   name);
  }
  const std::string node(volume.annotation(keys::kVolumeNode));
  if (!node.empty() && node != pod.node.name)
    return missing("the volume is on node " + node + ", the pod on " + pod.node.name);
  if (claim.is_block()) return make_error(Code::Invalid, "block volumes are nothing this node has");
  out.path = volume.node_path();
  if (out.path.empty()) {
    return make_error(Code::Invalid, "volume " + volume->name() +
                                         " is of a kind this node does not have: only hostPath "
                                         "and local volumes are mounted");
  }
  if (volume.provisioner() == keys::kDirectoryProvisioner) {
    out.kind = Volume::Kind::Directory;
    return {};
  }
  out.kind = Volume::Kind::HostPath;
  out.host_path_type = text_at(volume.document(), {"spec", "hostPath", "type"});
  if (find(volume.document(), {"spec", "local"}) != nullptr) out.host_path_type = "Directory";
  return {};
}

Result<Volume> read_volume(const Json& json, const PodFacts& pod, const Sources& sources,
                           const std::string& directory) {
  Volume out;
  out.name = text_at(json, {"name"});
  out.path = directory + "/volumes/" + out.name;
  const Json* found = nullptr;
  const auto is = [&](std::string_view field) {
    found = find(json, {field});
    return found != nullptr && found->is_object();
  };
  if (is("hostPath")) {
    out.kind = Volume::Kind::HostPath;
    out.path = text_at(*found, {"path"});
    out.host_path_type = text_at(*found, {"type"});
    return out;
  }
  if (is("emptyDir")) {
    out.kind = in_memory(json) ? Volume::Kind::Memory : Volume::Kind::EmptyDir;
    out.size_limit = size_limit(json);
    return out;
  }
  if (is("persistentVolumeClaim")) {
    out.read_only = bool_at(*found, {"readOnly"}).value_or(false);
    TRY(use_claim(text_at(*found, {"claimName"}), pod, sources, out));
    return out;
  }
  if (is("ephemeral")) {
    const std::string owner = text_at(pod.document, {"metadata", "name"});
    TRY(use_claim(owner + "-" + out.name, pod, sources, out));
    return out;
  }
  out.kind = Volume::Kind::Files;
  if (is("configMap")) {
    TRY(add_config(*found, sources, mode_at(*found, "defaultMode", 0644), out.files));
  } else if (is("secret")) {
    TRY(add_secret(*found, "secretName", sources, mode_at(*found, "defaultMode", 0644), out.files));
  } else if (is("downwardAPI")) {
    TRY(add_downward(*found, pod, mode_at(*found, "defaultMode", 0644), out.files));
  } else if (is("projected")) {
    TRY(add_projected(*found, pod, sources, out.files));
  } else {
    std::string kind;
    for (const auto& member : json.get_object()) {
      if (member.key() != "name") kind = std::string(member.key().data(), member.key().size());
    }
    // No source at all means emptyDir, as the API server defaults it.
    if (kind.empty()) {
      out.kind = Volume::Kind::EmptyDir;
      return out;
    }
    return make_error(Code::Invalid,
                      "volume \"" + out.name + "\" is of a kind this node does not have: " + kind);
  }
  return out;
}

}  // namespace

Result<std::vector<Volume>> pod_volumes(const PodFacts& pod, const Sources& sources,
                                        const std::string& directory) {
  std::vector<Volume> out;
  if (const JsonArray* list = array_at(pod.document, {"spec", "volumes"})) {
    for (const Json& one : *list) {
      Result<Volume> volume = read_volume(one, pod, sources, directory);
      if (!volume) {
        return make_error(volume.error().code, "MountVolume.SetUp failed for volume \"" +
                                                   text_at(one, {"name"}) +
                                                   "\" : " + volume.error().message);
      }
      out.push_back(*std::move(volume));
    }
  }
  return out;
}

std::vector<MemoryVolume> memory_volumes(const Json& pod, const std::string& directory,
                                         std::int64_t node_memory_bytes) {
  std::vector<MemoryVolume> out;
  const auto smaller = [](std::int64_t most, std::int64_t limit) {
    return limit > 0 && (most <= 0 || limit < most) ? limit : most;
  };
  const JsonArray* list = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& volume = (*list)[i];
    if (!in_memory(volume)) continue;
    const std::int64_t most = smaller(node_memory_bytes, pod_memory_limit(pod));
    out.push_back(
        {directory + "/volumes/" + text_at(volume, {"name"}), smaller(most, size_limit(volume))});
  }
  return out;
}

std::vector<Volume> limited_volumes(const Json& pod, const std::string& directory) {
  std::vector<Volume> out;
  const JsonArray* list = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& json = (*list)[i];
    if (size_limit(json) <= 0 || in_memory(json)) continue;
    Volume volume;
    volume.name = text_at(json, {"name"});
    volume.path = directory + "/volumes/" + volume.name;
    volume.size_limit = size_limit(json);
    out.push_back(std::move(volume));
  }
  return out;
}

Result<std::vector<Mount>> container_mounts(
    const Json& container, const std::vector<Volume>& volumes,
    const std::function<std::string(std::string_view)>& expand_text) {
  std::vector<Mount> out;
  const JsonArray* list = array_at(container, {"volumeMounts"});
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& json = (*list)[i];
    const std::string name = text_at(json, {"name"});
    const auto volume = std::ranges::find(volumes, name, &Volume::name);
    if (volume == volumes.end())
      return make_error(Code::Invalid,
                        "volume \"" + name + "\" of a volumeMount is not in the pod");
    std::string below = text_at(json, {"subPath"});
    if (const auto expression = string_at(json, {"subPathExpr"});
        expression && !expression->empty())
      below = expand_text(*expression);
    if (leads_out(below))
      return make_error(Code::Invalid, "subPath " + below + " leads out of volume " + name);
    Mount mount{volume->path, text_at(json, {"mountPath"}),
                bool_at(json, {"readOnly"}).value_or(false)};
    if (!below.empty()) {
      mount.within = volume->path;
      mount.source += "/" + below;
    }
    // What the agent writes is not the program's to change.
    if (volume->kind == Volume::Kind::Files || volume->read_only) mount.read_only = true;
    if (!mount.target.starts_with('/')) mount.target.insert(0, "/");
    out.push_back(std::move(mount));
  }
  std::ranges::stable_sort(
      out, {}, [](const Mount& mount) { return std::ranges::count(mount.target, '/'); });
  return out;
}

}  // namespace krater::agent
