#include "controllers/namespace/content.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::controllers {
namespace {

Condition condition(std::string type, bool value, std::string reason, std::string message) {
  return {std::move(type), value ? "True" : "False", std::move(reason), std::move(message), {}};
}

Condition content_failure(const NamespaceContent& left, const std::string& name) {
  if (left.undeletable.empty()) {
    return condition("NamespaceDeletionContentFailure", false, "ContentDeleted",
                     "All content successfully deleted, may be waiting on finalization");
  }
  std::vector<std::string> parts;
  for (const auto& [what, count] : left.undeletable) {
    parts.push_back("unexpected items still remain in namespace: " + name + " for gvr: " + what);
  }
  return condition("NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
                   "Failed to delete all resource types, " + std::to_string(parts.size()) +
                       " remaining: " + join(parts, ", "));
}

Condition content_remaining(const NamespaceContent& left) {
  std::map<std::string, std::size_t> kinds;
  for (const auto& item : left.items) ++kinds[item.kind.plural + "." + item.kind.group];
  if (kinds.empty()) {
    return condition("NamespaceContentRemaining", false, "ContentRemoved",
                     "All content successfully removed");
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds)
    parts.push_back(kind + " has " + std::to_string(count) + " resource instances");
  return condition("NamespaceContentRemaining", true, "SomeResourcesRemain",
                   "Some resources are remaining: " + join(parts, ", "));
}

Condition finalizers_remaining(const NamespaceContent& left) {
  std::map<std::string, std::size_t> finalizers;
  for (const auto& item : left.items) {
    for (const std::string& finalizer : item.object->finalizers()) ++finalizers[finalizer];
  }
  if (finalizers.empty()) {
    return condition("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                     "All content-preserving finalizers finished");
  }
  std::vector<std::string> parts;
  for (const auto& [finalizer, count] : finalizers) {
    parts.push_back(finalizer + " in " + std::to_string(count) + " resource instances");
  }
  return condition("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
                   "Some content in the namespace has finalizers remaining: " + join(parts, ", "));
}

}  // namespace

std::vector<Condition> deletion_conditions(const NamespaceContent& left, const std::string& name) {
  return {condition("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                    "All resources successfully discovered"),
          condition("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                    "All legacy kube types successfully parsed"),
          content_failure(left, name), content_remaining(left), finalizers_remaining(left)};
}

std::vector<Condition> merge_conditions(std::vector<Condition> present,
                                        const std::vector<Condition>& wanted, WallTime now) {
  for (const Condition& next : wanted) {
    auto place = std::ranges::find(present, next.type, &Condition::type);
    if (place == present.end())
      place = present.insert(present.end(), Condition{next.type, "", "", "", {}});
    if (place->status != next.status)
      place->last_transition = WallTime::from_unix_seconds(now.unix_seconds());
    place->status = next.status;
    place->reason = next.reason;
    place->message = next.message;
  }
  return present;
}

}  // namespace krater::controllers
