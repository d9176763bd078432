// Persistent volumes, claims for them, and their classes.
#include <algorithm>
#include <array>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::array<std::string_view, 22> kSources{"gcePersistentDisk",
                                                    "awsElasticBlockStore",
                                                    "hostPath",
                                                    "glusterfs",
                                                    "nfs",
                                                    "rbd",
                                                    "iscsi",
                                                    "cinder",
                                                    "cephfs",
                                                    "fc",
                                                    "flocker",
                                                    "flexVolume",
                                                    "azureFile",
                                                    "vsphereVolume",
                                                    "quobyte",
                                                    "azureDisk",
                                                    "photonPersistentDisk",
                                                    "portworxVolume",
                                                    "scaleIO",
                                                    "local",
                                                    "storageos",
                                                    "csi"};

std::optional<Quantity> amount(const Json& object, JsonPath path) {
  const auto text = string_at(object, path);
  if (!text) return std::nullopt;
  const Result<Quantity> parsed = Quantity::parse(*text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

void check_access_modes(const Json& spec, const FieldPath& path, std::string_view missing,
                        FieldErrors& errors) {
  const JsonArray* modes = array_at(spec, {"accessModes"});
  const FieldPath list = path.field("accessModes");
  if (modes == nullptr || modes->empty()) return errors.required(list, missing);
  bool exclusive = false, others = false;
  for (const Json& mode : *modes) {
    const std::string text = mode.is_string() ? std::string(view(mode.get_string())) : "";
    if (text == "ReadWriteOncePod") {
      exclusive = true;
    } else if (text == "ReadWriteOnce" || text == "ReadOnlyMany" || text == "ReadWriteMany") {
      others = true;
    } else {
      errors.unsupported(list, text,
                         {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    }
  }
  if (exclusive && others)
    errors.forbidden(list, "may not use ReadWriteOncePod with other access modes");
}

void check_positive(const std::optional<Quantity>& size, const FieldPath& path,
                    FieldErrors& errors) {
  if (size && size->sign() <= 0)
    errors.invalid(path, Json(size->text()), "must be greater than zero");
}

void check_capacity(const RuleInput& in, FieldErrors& errors) {
  const FieldPath path = in.path.field("capacity");
  const JsonObject* capacity = object_at(in.value, {"capacity"});
  if (capacity == nullptr || capacity->empty()) return errors.required(path);
  if (!capacity->contains("storage") || capacity->size() > 1)
    errors.unsupported(path, to_json(*find(in.value, {"capacity"})), {"storage"});
  for (const auto& entry : *capacity) {
    const std::string_view name = entry.key();
    check_positive(amount(in.value, {"capacity", name}), path.key(name), errors);
  }
}

void check_path_steps(const std::string& text, const FieldPath& path, FieldErrors& errors) {
  const std::vector<std::string_view> steps = split(text, '/');
  if (std::ranges::find(steps, "..") != steps.end())
    errors.invalid(path, Json(text), "must not contain '..'");
}

void check_source(const RuleInput& in, FieldErrors& errors) {
  bool seen = false;
  for (const std::string_view source : kSources) {
    if (find(in.value, {source}) == nullptr) continue;
    if (seen) errors.forbidden(in.path.field(source), "may not specify more than 1 volume type");
    seen = true;
  }
  if (!seen) errors.required(in.path, "must specify a volume type");
  if (const Json* host = find(in.value, {"hostPath"})) {
    const std::string path = text_at(*host, {"path"});
    const FieldPath source = in.path.field("hostPath");
    check_path_steps(path, source.field("path"), errors);
    if (path == "/" && text_at(in.value, {"persistentVolumeReclaimPolicy"}) == "Recycle") {
      errors.forbidden(in.path.field("persistentVolumeReclaimPolicy"),
                       "may not be 'recycle' for a hostPath mount of '/'");
    }
  }
  if (const Json* local = find(in.value, {"local"})) {
    const std::string path = text_at(*local, {"path"});
    const FieldPath source = in.path.field("local");
    if (path.empty()) errors.required(source.field("path"));
    check_path_steps(path, source.field("path"), errors);
    if (find(in.value, {"nodeAffinity"}) == nullptr)
      errors.required(in.path.field("nodeAffinity"), "Local volume requires node affinity");
  }
}

bool same_member(const Json& a, const Json& b, std::string_view name) {
  const Json* left = find(a, {name});
  const Json* right = find(b, {name});
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

void check_volume_update(const RuleInput& in, FieldErrors& errors) {
  const Json& old = *in.old;
  const bool same = std::ranges::all_of(
      kSources, [&](std::string_view source) { return same_member(in.value, old, source); });
  if (!same) {
    errors.forbidden(in.path.field("persistentvolumesource"),
                     "spec.persistentvolumesource is immutable after creation");
  }
  // It may be given late, but not changed.
  if (find(old, {"nodeAffinity"}) != nullptr && !same_member(in.value, old, "nodeAffinity")) {
    const Json* now = find(in.value, {"nodeAffinity"});
    errors.invalid(in.path.field("nodeAffinity"), now == nullptr ? Json() : *now,
                   "field is immutable");
  }
}

// What of a claim's spec counts when it is compared with what was.
Json comparable(const Json& claim) {
  const Json* spec = find(claim, {"spec"});
  return spec == nullptr ? Json(JsonObject()) : *spec;
}

void check_claim_update(const RuleInput& in, FieldErrors& errors) {
  Json now = comparable(in.value), before = comparable(*in.old);
  const FieldPath spec = in.path.field("spec");
  const bool bound = text_at(in.value, {"status", "phase"}) == "Bound";
  const auto size = amount(now, {"resources", "requests", "storage"});
  const auto was = amount(before, {"resources", "requests", "storage"});
  // Whoever binds it names the volume.
  if (text_at(before, {"volumeName"}).empty()) erase_path(now, {"volumeName"});
  if (text_at(before, {"volumeName"}).empty()) erase_path(before, {"volumeName"});
  if (find(before, {"storageClassName"}) == nullptr) erase_path(now, {"storageClassName"});
  if (bound) {
    for (Json* one : {&now, &before}) {
      erase_path(*one, {"resources", "requests", "storage"});
      erase_path(*one, {"volumeAttributesClassName"});
    }
  }
  if (now != before) {
    errors.forbidden(spec,
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  }
  if (!size || !was || *size >= *was) return;
  const auto capacity = amount(in.value, {"status", "capacity", "storage"});
  if (capacity && *size > *capacity) return;
  const FieldPath resources = spec.field("resources");
  const FieldPath requests = resources.field("requests");
  errors.forbidden(requests.field("storage"), "field can not be less than status.capacity");
}

// "example.com/name" or a bare name, in lower case.
void check_provisioner(const RuleInput& in, FieldErrors& errors) {
  const FieldPath path = in.path.field("provisioner");
  const std::string name = text_at(in.value, {"provisioner"});
  if (name.empty()) return errors.required(path, name);
  if (const std::string problem = check_qualified_name(to_lower(name)); !problem.empty())
    errors.invalid(path, Json(name), problem);
}

}  // namespace

void persistent_volume_spec(const RuleInput& in, FieldErrors& errors) {
  check_access_modes(in.value, in.path, "", errors);
  check_capacity(in, errors);
  check_source(in, errors);
  if (const Json* affinity = find(in.value, {"nodeAffinity"});
      affinity != nullptr && find(*affinity, {"required"}) == nullptr) {
    const FieldPath path = in.path.field("nodeAffinity");
    errors.required(path.field("required"), "must specify required node constraints");
  }
  if (in.old != nullptr) check_volume_update(in, errors);
}

void volume_claim_spec(const RuleInput& in, FieldErrors& errors) {
  check_access_modes(in.value, in.path, "at least 1 access mode is required", errors);
  const FieldPath resources = in.path.field("resources");
  const auto size = amount(in.value, {"resources", "requests", "storage"});
  if (!size) {
    errors.required(resources.key("storage"));
  } else {
    const FieldPath requests = resources.field("requests");
    check_positive(size, requests.key("storage"), errors);
  }
  const std::string name = text_at(in.value, {"storageClassName"});
  if (name.empty()) return;
  if (const std::string problem = check_dns1123_subdomain(name); !problem.empty())
    errors.invalid(in.path.field("storageClassName"), Json(name), problem);
}

void persistent_volume_claim(const RuleInput& in, FieldErrors& errors) {
  if (in.old != nullptr) check_claim_update(in, errors);
}

void storage_class(const RuleInput& in, FieldErrors& errors) {
  check_provisioner(in, errors);
  if (const JsonObject* parameters = object_at(in.value, {"parameters"})) {
    const FieldPath path = in.path.field("parameters");
    for (const auto& entry : *parameters) {
      if (entry.key().empty()) errors.invalid(path, Json(""), "field can not be empty.");
    }
  }
  if (in.old == nullptr) return;
  for (const std::string_view field : {"parameters", "provisioner", "reclaimPolicy"}) {
    if (!same_member(in.value, *in.old, field)) {
      errors.forbidden(in.path.field(field),
                       "updates to " + std::string(field) + " are forbidden.");
    }
  }
}

}  // namespace krater::api::rules
