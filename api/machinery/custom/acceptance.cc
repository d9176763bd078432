#include "api/machinery/custom/acceptance.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::api {
namespace {

using Names = std::set<std::string, std::less<>>;

std::string in_use(std::string_view name) {
  std::string out;
  append_json_string(out, name);
  return out + " is already in use";
}

class Judge {
 public:
  explicit Judge(const Definition& definition) : asked_(definition.names) {
    out_.names = definition.accepted;
    out_.accepted = true;
    out_.reason = "NoConflicts";
    out_.message = "no conflicts found";
  }

  void name(std::string DefinitionNames::*which, const Names& taken, std::string_view reason) {
    const std::string& wanted = asked_.*which;
    if (wanted != out_.names.*which && taken.contains(wanted))
      return refuse(reason, in_use(wanted));
    out_.names.*which = wanted;
  }

  void short_names(const Names& taken) {
    const std::vector<std::string>& had = out_.names.short_names;
    std::vector<std::string> problems;
    for (const std::string& wanted : asked_.short_names) {
      const bool own = std::find(had.begin(), had.end(), wanted) != had.end();
      if (!own && taken.contains(wanted)) problems.push_back(in_use(wanted));
    }
    if (!problems.empty()) {
      const std::string all = join(problems, ", ");
      return refuse("ShortNamesConflict", problems.size() == 1 ? all : "[" + all + "]");
    }
    out_.names.short_names = asked_.short_names;
  }

  Acceptance take() {
    out_.names.categories = asked_.categories;
    return std::move(out_);
  }

 private:
  void refuse(std::string_view reason, std::string message) {
    out_.accepted = false;
    out_.reason = reason;
    out_.message = std::move(message);
  }

  const DefinitionNames& asked_;
  Acceptance out_;
};

}  // namespace

void TakenNames::add(const DefinitionNames& names) {
  for (const std::string& name : {names.plural, names.singular}) {
    if (!name.empty()) resources.insert(name);
  }
  resources.insert(names.short_names.begin(), names.short_names.end());
  for (const std::string& name : {names.kind, names.list_kind}) {
    if (!name.empty()) kinds.insert(name);
  }
}

Acceptance accept_names(const Definition& definition, const TakenNames& taken) {
  Judge judge(definition);
  judge.name(&DefinitionNames::plural, taken.resources, "PluralConflict");
  judge.name(&DefinitionNames::singular, taken.resources, "SingularConflict");
  judge.short_names(taken.resources);
  judge.name(&DefinitionNames::kind, taken.kinds, "KindConflict");
  judge.name(&DefinitionNames::list_kind, taken.kinds, "ListKindConflict");
  return judge.take();
}

}  // namespace krater::api
