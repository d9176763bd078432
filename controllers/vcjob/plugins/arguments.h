// Arguments of a job plugin, as Go's flag package reads them: "--name=value", "-name value", and
// for switches "--name" alone. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krater::controllers::vcjob {

class Arguments {
 public:
  // Reading stops at the first argument that is no flag; what came before it counts. `switches`:
  // the flags that need no value.
  Arguments(const std::vector<std::string>& arguments, std::vector<std::string_view> switches = {});

  std::string text(std::string_view name, std::string_view fallback) const;
  // Fallback also for what is no number.
  std::int64_t number(std::string_view name, std::int64_t fallback) const;
  bool flag(std::string_view name, bool fallback) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace krater::controllers::vcjob
