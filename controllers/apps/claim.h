// Which objects are whose. What a selector matches and nobody controls is adopted; what is
// controlled and no longer matches is released. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/selector.h"

namespace krater::controllers {

// Writes that make `objects` (of one kind, in the owner's namespace) belong to `owner` exactly when
// `selector` matches. An owner that is being deleted adopts and releases nothing.
std::vector<PlannedWrite> claim(const Object& owner, const LabelSelector& selector,
                                const Kind& kind, const std::vector<ObjectPtr>& objects);

// The owners of one kind and what they select: finds who may want an object that nobody controls.
class SelectorIndex {
 public:
  explicit SelectorIndex(const Kind& owner) : owner_(owner) {}

  // An owner as the cache shows it now; `after` null: it is gone.
  void see(const ObjectPtr& before, const ObjectPtr& after);
  // The owners to wake when an object changes: those that control it, else those that match it.
  std::vector<ObjectKey> owners_of(const ObjectPtr& before, const ObjectPtr& after) const;

 private:
  void add(const Object& object, std::vector<ObjectKey>& out) const;

  const Kind& owner_;
  // By namespace, then name.
  std::map<std::string, std::map<std::string, LabelSelector>, std::less<>> selectors_;
};

}  // namespace krater::controllers
