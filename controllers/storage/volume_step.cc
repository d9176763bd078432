#include "controllers/storage/volume_step.h"

#include "controllers/storage/writes.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

class Pass {
 public:
  Pass(const VolumeSeen& seen, WallTime now) : seen_(seen), volume_(seen.volume), now_(now) {}

  Plan run() && {
    if (volume_->deletion()) {
      leave();
    } else if (volume_.claim_ref() == nullptr || volume_.claim_uid().empty()) {
      set_phase("Available");
    } else if (!claim_is_there()) {
      release();
    } else if (seen_.claim.volume_name() == volume_->name()) {
      set_phase("Bound");
    } else if (!seen_.claim.volume_name().empty()) {
      give_up();
    } else if (volume_.phase() == "Pending") {
      set_phase("Available");  // until the claim has taken it
    }
    return std::move(plan_);
  }

 private:
  bool claim_is_there() const { return seen_.claim && seen_.claim->uid() == volume_.claim_uid(); }
  bool is_directory() const { return volume_.provisioner() == keys::kDirectoryProvisioner; }

  void leave() {
    std::vector<std::string_view> done;
    const bool bound = volume_.claim_ref() != nullptr && claim_is_there();
    if (volume_.has_finalizer(keys::kVolumeProtection) && !bound)
      done.push_back(keys::kVolumeProtection);
    if (volume_.has_finalizer(keys::kDirectoryFinalizer) && seen_.node_gone)
      done.push_back(keys::kDirectoryFinalizer);
    if (!done.empty())
      plan_.then(drop_finalizers(kinds::kPersistentVolume, *volume_.object(), done));
  }

  void release() {
    switch (volume_.reclaim_policy()) {
      case ReclaimPolicy::Retain:
        return set_phase("Released");
      case ReclaimPolicy::Recycle:
        if (volume_.phase() != "Failed") {
          plan_.events.push_back(
              {Type::Warning, "VolumeFailedRecycle", "No recycler plugin found for the volume!"});
        }
        return set_phase("Failed", "no volume plugin matched");
      case ReclaimPolicy::Delete:
        break;
    }
    if (is_directory()) {
      set_phase("Released");
      return remove();
    }
    // Who made it takes it away.
    if (!volume_.provisioner().empty()) return set_phase("Released");
    const std::string why = "error getting deleter volume plugin for volume \"" + volume_->name() +
                            "\": no deletable volume plugin matched";
    if (volume_.phase() != "Failed")
      plan_.events.push_back({Type::Warning, "VolumeFailedDelete", why});
    set_phase("Failed", why);
  }

  // The claim took another one.
  void give_up() {
    if (is_directory() && volume_.reclaim_policy() == ReclaimPolicy::Delete) return remove();
    if (volume_.annotation(keys::kBoundByController).empty()) return;
    plan_.then(patch_volume(
        *volume_.object(),
        JsonObject{{"metadata",
                    JsonObject{{"annotations", JsonObject{{keys::kBoundByController, nullptr}}}}},
                   {"spec", JsonObject{{"claimRef", nullptr}}}}));
    set_phase("Available");
  }

  void remove() {
    client::DeleteWrite write{kinds::kPersistentVolume, "", volume_->name()};
    write.only_uid = volume_->uid();
    plan_.then({std::move(write),
                Code::NotFound,
                {},
                EventNote{Type::Warning, "VolumeFailedDelete", "failed to delete volume"}});
  }

  void set_phase(std::string_view phase, const std::string& message = {}) {
    if (volume_.phase() == phase && text_at(volume_.document(), {"status", "message"}) == message)
      return;
    JsonObject status{{"phase", phase}, {"lastPhaseTransitionTime", to_rfc3339(now_)}};
    if (!message.empty()) status["message"] = message;
    plan_.then(
        write_status(kinds::kPersistentVolume, volume_.document(), *volume_.object(), status));
  }

  const VolumeSeen& seen_;
  const PersistentVolumeView& volume_;
  WallTime now_;
  Plan plan_{};
};

}  // namespace

Plan volume_step(const VolumeSeen& seen, WallTime now) {
  return Pass(seen, now).run();
}

}  // namespace krater::controllers
