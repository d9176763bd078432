// What is left in a namespace that is being deleted, and how its conditions say so. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"

namespace krater::controllers {

struct NamespaceContent {
  struct Item {
    Kind kind;
    ObjectPtr object;
  };
  std::vector<Item> items{};
  // Kinds ("/v1, Resource=configmaps") of objects that could not be deleted though it was tried.
  std::map<std::string, std::size_t> undeletable{};
};

// The five conditions, with Kubernetes' reasons and words: API-06 reads them.
std::vector<Condition> deletion_conditions(const NamespaceContent& left, const std::string& name);

// `present` updated by `wanted`: transition times move only with the status; others stay as they
// are.
std::vector<Condition> merge_conditions(std::vector<Condition> present,
                                        const std::vector<Condition>& wanted, WallTime now);

}  // namespace krater::controllers
