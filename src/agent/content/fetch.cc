#include "agent/content/fetch.h"

#include "model/storage.h"

namespace krater::agent {

struct SourceFetcher::Gathering {
  Sources sources;
  std::optional<Error> failure;
  std::size_t waiting = 1;
  std::function<void(Result<Sources>)> done;

  void one_less() {
    if (--waiting != 0) return;
    if (failure) return done(*failure);
    done(std::move(sources));
  }
};

void SourceFetcher::fetch(const PodSpec& pod, Needs needs,
                          std::function<void(Result<Sources>)> done) {
  auto gathering = std::make_shared<Gathering>();
  gathering->done = std::move(done);
  for (const std::string& name : needs.config_maps) get(kinds::kConfigMap, pod, name, gathering);
  for (const std::string& name : needs.secrets) get(kinds::kSecret, pod, name, gathering);
  for (const TokenNeed& need : needs.tokens) token(pod, need, gathering);
  for (const std::string& name : needs.claims) claim(pod, name, gathering);
  loop_.post([gathering] { gathering->one_less(); });
}

void SourceFetcher::get(const Kind& kind, const PodSpec& pod, const std::string& name,
                        const std::shared_ptr<Gathering>& gathering) {
  ++gathering->waiting;
  const bool config = kind == kinds::kConfigMap;
  client_.get(kind, pod.name_space, name, [name, config, gathering](Result<ObjectPtr> found) {
    if (found) {
      (config ? gathering->sources.config_maps : gathering->sources.secrets)[name] = *found;
    } else if (found.error().code != Code::NotFound) {
      gathering->failure = found.error();
    }
    gathering->one_less();
  });
}

void SourceFetcher::claim(const PodSpec& pod, const std::string& name,
                          const std::shared_ptr<Gathering>& gathering) {
  ++gathering->waiting;
  client_.get(
      kinds::kPersistentVolumeClaim, pod.name_space, name,
      [this, alive = std::weak_ptr<bool>(alive_), name, gathering](const Result<ObjectPtr>& found) {
        if (alive.expired()) return;
        if (!found) {
          if (found.error().code != Code::NotFound) gathering->failure = found.error();
          return gathering->one_less();
        }
        gathering->sources.claims[name].claim = *found;
        const PersistentVolumeClaimView view(*found);
        if (view.bound() && view.phase() == "Bound") volume(name, view.volume_name(), gathering);
        gathering->one_less();
      });
}

// A directory that may be there is marked on its volume first: whoever lets the volume go waits
// until the directory is gone.
void SourceFetcher::volume(const std::string& claim, const std::string& name,
                           const std::shared_ptr<Gathering>& gathering) {
  ++gathering->waiting;
  const auto take = [claim, gathering](const Result<ObjectPtr>& found) {
    if (found) {
      gathering->sources.claims[claim].volume = *found;
    } else if (found.error().code != Code::NotFound) {
      gathering->failure = found.error();
    }
    gathering->one_less();
  };
  client_.get(
      kinds::kPersistentVolume, {}, name,
      [this, alive = std::weak_ptr<bool>(alive_), name, take](const Result<ObjectPtr>& found) {
        if (alive.expired()) return;
        const PersistentVolumeView view(found ? *found : nullptr);
        if (!view || view.provisioner() != keys::kDirectoryProvisioner ||
            view.has_finalizer(keys::kDirectoryFinalizer))
          return take(found);
        JsonArray finalizers;
        for (const std::string& one : view->finalizers()) finalizers.emplace_back(one);
        finalizers.emplace_back(keys::kDirectoryFinalizer);
        client::PatchWrite mark{
            kinds::kPersistentVolume,
            {},
            name,
            client::PatchType::Merge,
            JsonObject{{"metadata", JsonObject{{"finalizers", std::move(finalizers)}}}}};
        mark.only_if = view->revision();
        client_.write(std::move(mark), take);
      });
}

void SourceFetcher::token(const PodSpec& pod, const TokenNeed& need,
                          const std::shared_ptr<Gathering>& gathering) {
  std::map<TokenNeed, Token>& kept = tokens_[pod.uid];
  if (const auto place = kept.find(need);
      place != kept.end() && place->second.renew_at > clock_.now()) {
    gathering->sources.tokens[need] = place->second.text;
    return;
  }
  ++gathering->waiting;
  Json request{{"apiVersion", "authentication.k8s.io/v1"},
               {"kind", "TokenRequest"},
               {"metadata", JsonObject()}};
  JsonObject spec;
  spec["expirationSeconds"] = need.expiration_seconds;
  spec["audiences"] = need.audience.empty() ? JsonArray() : JsonArray{need.audience};
  spec["boundObjectRef"] =
      JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod.name}, {"uid", pod.uid}};
  request.get_object()["spec"] = std::move(spec);
  client::CreateWrite write{kinds::kServiceAccount, pod.name_space, std::move(request)};
  write.name = pod.service_account.empty() ? "default" : pod.service_account;
  write.subresource = "token";
  client_.write(std::move(write), [this, alive = std::weak_ptr<bool>(alive_), uid = pod.uid, need,
                                   gathering](Result<ObjectPtr> made) {
    if (alive.expired()) return;
    if (!made) {
      // No such account, or a server without tokens: the volume says that it is not there yet.
      if (made.error().code != Code::NotFound) gathering->failure = made.error();
      return gathering->one_less();
    }
    const std::string text = text_at(*(*made)->document(), {"status", "token"});
    const WallTime renew_at = clock_.now() + std::chrono::seconds(need.expiration_seconds) * 4 / 5;
    tokens_[uid][need] = {text, renew_at};
    gathering->sources.tokens[need] = text;
    gathering->one_less();
  });
}

}  // namespace krater::agent
