#include "cli/controller_selection.h"

#include "base/strings.h"

namespace krater::cli {

std::string short_controller_name(std::string_view controller) {
  constexpr std::string_view kEnding = "-controller";
  if (controller.size() > kEnding.size() &&
      controller.substr(controller.size() - kEnding.size()) == kEnding)
    controller.remove_suffix(kEnding.size());
  return std::string(controller);
}

Result<ControllerSelection> ControllerSelection::parse(std::string_view list) {
  ControllerSelection out;
  if (list.empty()) return out;
  bool all = false;
  for (const std::string_view part : split(list, ',')) {
    std::string_view name = trim(part);
    const bool away = !name.empty() && name.front() == '-';
    if (away) name.remove_prefix(1);
    if (name.empty())
      return make_error(Code::Invalid,
                        "--controllers: an empty name in \"" + std::string(list) + "\"");
    if (name == "*") {
      all = true;
    } else {
      (away ? out.off_ : out.on_).insert(short_controller_name(name));
    }
  }
  out.others_ = all || out.on_.empty();
  return out;
}

bool ControllerSelection::wants(std::string_view controller) const {
  const std::string name = short_controller_name(controller);
  if (off_.contains(name)) return false;
  return others_ || on_.contains(name);
}

Result<void> ControllerSelection::check(const std::set<std::string>& offered) const {
  for (const std::set<std::string>* list : {&on_, &off_}) {
    for (const std::string& name : *list) {
      if (offered.contains(name)) continue;
      std::string all;
      for (const std::string& each : offered) all += (all.empty() ? "" : ", ") + each;
      return make_error(Code::Invalid,
                        "--controllers: there is no controller \"" + name + "\"; there are " + all);
    }
  }
  return {};
}

}  // namespace krater::cli
