// Which of the names a definition asks for it gets: within a group no two kinds share one. Mirrors
// kube-apiserver's naming controller. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/custom/definition.h"

namespace krater::api {

// Names that are taken within one group.
struct TakenNames {
  std::set<std::string, std::less<>> resources, kinds;
  void add(const DefinitionNames& names);
};

struct Acceptance {
  DefinitionNames names;  // those it has now
  bool accepted = false;  // all it asks for
  std::string reason, message;
};
// `taken`: by the others of its group.
Acceptance accept_names(const Definition& definition, const TakenNames& taken);

}  // namespace krater::api
