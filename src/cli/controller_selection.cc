#include "cli/controller_selection.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace krater::cli {

namespace {

constexpr std::string_view kVolcano = "vc-controller-manager";
constexpr std::array kOfVolcano{"hypernode", "jobflow",    "jobtemplate", "pg",
                                "queue",     "vc-cronjob", "vcjob"};

}  // namespace

bool is_of_volcano(std::string_view controller) {
  return std::find(kOfVolcano.begin(), kOfVolcano.end(), short_controller_name(controller)) !=
         kOfVolcano.end();
}

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
  if (off_.contains(name) || on_.contains(name)) return on_.contains(name) && !off_.contains(name);
  if (is_of_volcano(name)) {
    if (off_.contains(kVolcano)) return false;
    if (on_.contains(kVolcano)) return true;
  }
  return others_;
}

bool ControllerSelection::wants_any_of_volcano() const {
  return std::any_of(kOfVolcano.begin(), kOfVolcano.end(),
                     [this](std::string_view name) { return wants(name); });
}

Result<void> ControllerSelection::check(const std::set<std::string>& offered) const {
  for (const auto* list : {&on_, &off_}) {
    for (const std::string& name : *list) {
      if (offered.contains(name) || name == kVolcano) continue;
      std::string all;
      for (const std::string& each : offered) all += (all.empty() ? "" : ", ") + each;
      return make_error(Code::Invalid,
                        "--controllers: there is no controller \"" + name + "\"; there are " + all);
    }
  }
  return {};
}

}  // namespace krater::cli
