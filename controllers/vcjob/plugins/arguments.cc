#include "controllers/vcjob/plugins/arguments.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::controllers::vcjob {

Arguments::Arguments(const std::vector<std::string>& arguments,
                     std::vector<std::string_view> switches) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (!text.starts_with('-')) return;
    text.remove_prefix(text.starts_with("--") ? 2 : 1);
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (name.empty()) return;
    if (equals != std::string_view::npos) {
      values_.insert_or_assign(std::string(name), std::string(text.substr(equals + 1)));
    } else if (std::ranges::count(switches, name) > 0) {
      values_.insert_or_assign(std::string(name), std::string("true"));
    } else if (i + 1 < arguments.size()) {
      values_.insert_or_assign(std::string(name), arguments[++i]);
    } else {
      return;
    }
  }
}

std::string Arguments::text(std::string_view name, std::string_view fallback) const {
  const auto value = values_.find(name);
  return value == values_.end() ? std::string(fallback) : value->second;
}

std::int64_t Arguments::number(std::string_view name, std::int64_t fallback) const {
  return parse_int(text(name, "")).value_or(fallback);
}

bool Arguments::flag(std::string_view name, bool fallback) const {
  const std::string value = to_lower(text(name, ""));
  if (value == "true" || value == "t" || value == "1") return true;
  if (value == "false" || value == "f" || value == "0") return false;
  return fallback;
}

}  // namespace krater::controllers::vcjob
