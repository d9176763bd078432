// ssh: the pods of a job log in to each other without a password: one key pair in a Secret, mounted
// where ssh looks for it.
#include "base/strings.h"
#include "controllers/vcjob/plugins/arguments.h"
#include "controllers/vcjob/plugins/plugin.h"
#include "controllers/vcjob/pod_builder.h"

namespace krater::controllers::vcjob {
namespace {

constexpr std::string_view kRootPath = "/root/.ssh";
constexpr std::string_view kFolder = ".ssh";  // in the volume
constexpr std::int64_t kPort = 22;

std::string secret_name(const VolcanoJobView& job) {
  return job->name() + "-ssh";
}

std::string client_config(const Observed& seen, std::int64_t port) {
  std::string out = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
  for (const VolcanoTask& task : seen.tasks) {
    for (const std::string& host : hosts_of(seen.job, task, kTooMuchForAnObject)) {
      out += "Host " + host.substr(0, host.find('.')) + "\n  HostName " + host + "\n  Port " +
             std::to_string(port) + "\n";
    }
  }
  return out;
}

std::optional<SshKey> key_of(const PluginInput& in) {
  const Arguments arguments(in.arguments);
  if (std::string key = arguments.text("ssh-private-key", ""); !key.empty())
    return SshKey{std::move(key), arguments.text("ssh-public-key", "")};
  return in.seen.ssh_key;
}

// A key that has been handed out stays.
JsonObject key_files(const PluginInput& in) {
  const ObjectPtr present = in.seen.child(kinds::kSecret, secret_name(in.seen.job));
  if (present != nullptr && in.seen.owns(*present)) {
    const auto document = present->document();
    const JsonObject* data = object_at(*document, {"data"});
    return data == nullptr ? JsonObject() : *data;
  }
  const SshKey key = key_of(in).value_or(SshKey());
  JsonObject out;
  out["id_rsa"] = base64_encode(key.private_pem);
  out["id_rsa.pub"] = base64_encode(key.public_line);
  out["authorized_keys"] = base64_encode(key.public_line);
  return out;
}

}  // namespace

bool ssh_needs_key(const PluginInput& in) {
  return in.seen.child(kinds::kSecret, secret_name(in.seen.job)) == nullptr && !key_of(in);
}

std::vector<PluginObject> ssh_objects(const PluginInput& in) {
  std::int64_t port = Arguments(in.arguments).number("ssh-port", kPort);
  if (port <= 0 || port > 65535) port = kPort;
  JsonObject data = key_files(in);
  data["config"] = base64_encode(client_config(in.seen, port));
  Json secret(boost::json::object_kind);
  set_path(secret, {"data"}, std::move(data));
  return {{kinds::kSecret, secret_name(in.seen.job), std::move(secret), true}};
}

void ssh_pod(const PodInput& in, Json& pod) {
  const std::string name = secret_name(in.plugin.seen.job);
  const std::string path = Arguments(in.plugin.arguments).text("ssh-key-file-path", kRootPath);
  JsonArray items;
  for (const std::string_view file : {"id_rsa", "id_rsa.pub", "authorized_keys", "config"})
    items.push_back(
        JsonObject{{"key", file}, {"path", std::string(kFolder) + "/" + std::string(file)}});
  Json volume(boost::json::object_kind);
  set_path(volume, {"name"}, Json(name));
  set_path(volume, {"secret", "secretName"}, Json(name));
  set_path(volume, {"secret", "items"}, std::move(items));
  // ssh refuses a private key that others may read; elsewhere another user may have to.
  set_path(volume, {"secret", "defaultMode"}, path == kRootPath ? 0600 : 0644);
  if (array_at(pod, {"spec", "volumes"}) == nullptr)
    set_path(pod, {"spec", "volumes"}, JsonArray());
  find(pod, {"spec", "volumes"})->get_array().push_back(std::move(volume));
  const JsonArray mounts{JsonObject{{"mountPath", path}, {"subPath", kFolder}, {"name", name}}};
  for (const std::string_view list : {"containers", "initContainers"})
    append_to_containers(pod, list, "volumeMounts", mounts);
}

}  // namespace krater::controllers::vcjob
