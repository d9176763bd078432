// Which controllers run, as `--controllers` says it: the list of kube-controller-manager. "name" is
// one that runs, "-name" one that does not, "*" all others. A list that only takes away leaves the
// rest running. Names are those of the counters, with or without "-controller";
// "vc-controller-manager" stands for all that Volcano's program of that name runs, where it is not
// said of one by itself.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krater::cli {

class ControllerSelection {
 public:
  ControllerSelection() = default;
  // Names separated by commas; empty: all. Code::Invalid for an empty name.
  static Result<ControllerSelection> parse(std::string_view list);

  bool wants(std::string_view controller) const;
  bool wants_any_of_volcano() const;
  // Code::Invalid with all names there are, when the list holds one that is not among `offered`.
  Result<void> check(const std::set<std::string>& offered) const;

 private:
  std::set<std::string, std::less<>> on_, off_;
  bool others_ = true;
};

// Whether Volcano's controller manager has it.
bool is_of_volcano(std::string_view controller);
// Without the ending "-controller".
std::string short_controller_name(std::string_view controller);

}  // namespace krater::cli
