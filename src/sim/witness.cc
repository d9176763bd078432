#include "sim/witness.h"

#include "model/kinds.h"
#include "sim/outcome.h"

namespace krater::sim {
namespace {

std::vector<const Kind*> watched() {
  return {&kinds::kPod,        &kinds::kPodGroup, &kinds::kRayJob, &kinds::kVolcanoJob,
          &kinds::kRayCluster, &kinds::kJob,      &kinds::kNode};
}

}  // namespace

Witness::Witness(SimLoop& loop, Network& network)
    : lane_(loop, "witness"), client_(network, lane_, "witness"), cache_(client_) {
  for (const Kind* kind : watched()) {
    cache_.add({*kind});
    cache_.on_change(*kind, [this](const ObjectPtr& before, const ObjectPtr& after) {
      if (before && after && after->revision() < before->revision())
        complaints_.push_back("revisions_only_grow: told of " + after->key().text() + " at " +
                              after->revision().text() + " after " + before->revision().text());
    });
  }
}

std::optional<std::string> Witness::is_wrong_about(const storage::Snapshot& state) const {
  for (const Kind* kind : watched()) {
    const std::vector<ObjectPtr> known = cache_.list(*kind), real = objects_of(state, *kind);
    if (known.size() != real.size())
      return "knows " + std::to_string(known.size()) + " of " + std::to_string(real.size()) + " " +
             kind->plural;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i]->key() != real[i]->key() || known[i]->revision() != real[i]->revision())
        return "knows " + known[i]->key().text() + " at " + known[i]->revision().text() +
               ", true is " + real[i]->key().text() + " at " + real[i]->revision().text();
    }
  }
  return std::nullopt;
}

}  // namespace krater::sim
