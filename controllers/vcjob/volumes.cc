#include "controllers/vcjob/volumes.h"

#include "base/strings.h"

namespace krater::controllers::vcjob {

const Kind kPersistentVolumeClaim{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims",
                                  true};

namespace {

// Derived, so that a repeated pass makes no second claim.
std::string claim_name(const VolcanoJobView& job, std::size_t index) {
  const std::uint64_t hash = fnv1a(job->uid().text() + "/" + std::to_string(index));
  return job->name() + "-pvc-" + std::to_string(hash % 1'000'000'000'000ULL);
}

PlannedWrite create_claim(const VolcanoJobView& job, const std::string& name, const Json& claim) {
  Json out = new_object(kPersistentVolumeClaim, job->name_space(), name);
  set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*job.object())});
  set_path(out, {"spec"}, claim);
  return {client::CreateWrite{kPersistentVolumeClaim, job->name_space(), std::move(out)},
          Code::AlreadyExists,
          {},
          EventNote{EventNote::Type::Warning, "PVCError", "Failed to create PVC, err"}};
}

}  // namespace

std::optional<Plan> name_claims(const Observed& seen) {
  const std::vector<VolcanoVolume> volumes = seen.job.volumes();
  Json object = seen.job.document();
  std::vector<PlannedWrite> claims;
  bool named = false;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    if (!volumes[i].claim_name.empty()) continue;
    const std::string name = claim_name(seen.job, i);
    if (volumes[i].claim != nullptr)
      claims.push_back(create_claim(seen.job, name, *volumes[i].claim));
    Json* list = find(object, {"spec", "volumes"});
    set_path(list->get_array()[i], {"volumeClaimName"}, Json(name));
    named = true;
  }
  if (!named) return std::nullopt;
  Plan plan;
  plan.steps.push_back(std::move(claims));
  plan.then({client::UpdateWrite{kinds::kVolcanoJob, seen.job->name_space(), seen.job->name(),
                                 std::move(object)}});
  return plan;
}

std::string missing_claim(const Observed& seen) {
  if (!seen.served(kPersistentVolumeClaim)) return {};
  for (const VolcanoVolume& volume : seen.job.volumes()) {
    if (!volume.claim_name.empty() &&
        seen.child(kPersistentVolumeClaim, volume.claim_name) == nullptr)
      return volume.claim_name;
  }
  return {};
}

void mark_claims(const Observed& seen, Status& status) {
  for (const VolcanoVolume& volume : seen.job.volumes()) {
    if (!volume.claim_name.empty())
      status.controlled["volume-pvc-" + volume.claim_name] = volume.claim_name;
  }
}

}  // namespace krater::controllers::vcjob
