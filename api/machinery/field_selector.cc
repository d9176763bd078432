#include "api/machinery/field_selector.h"

#include <algorithm>

#include "api/machinery/schema.h"

namespace krater::api {
namespace {

Error malformed(std::string_view text) {
  return make_error(Code::BadRequest,
                    "invalid selector: '" + std::string(text) + "'; can't understand it");
}

// Pieces between commas; `\` keeps the next character.
std::vector<std::string_view> terms(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  out.push_back(text.substr(start));
  return out;
}

// `\\`, `\,` and `\=` are the only escapes; a bare `=` in a value is malformed.
std::optional<std::string> unescape(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      if (++i == value.size() || (value[i] != '\\' && value[i] != ',' && value[i] != '='))
        return std::nullopt;
    } else if (value[i] == '=') {
      return std::nullopt;
    }
    out += value[i];
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (std::string_view term : terms(text)) {
    if (term.empty()) continue;
    const std::size_t at = term.find('=');
    if (at == std::string_view::npos || at == 0) return malformed(text);
    Requirement requirement;
    requirement.equal = term[at - 1] != '!';
    requirement.field = term.substr(0, requirement.equal ? at : at - 1);
    std::string_view raw = term.substr(at + 1);
    if (requirement.equal && !raw.empty() && raw.front() == '=') raw.remove_prefix(1);
    auto value = unescape(raw);
    if (!value || requirement.field.empty()) return malformed(text);
    requirement.value = *std::move(value);
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

Result<void> FieldSelector::check(const KindSchema& schema) const {
  for (const Requirement& requirement : requirements_) {
    if (!schema.supports_field(requirement.field)) {
      return make_error(Code::BadRequest, "field label not supported: " + requirement.field);
    }
  }
  return {};
}

bool FieldSelector::matches(const KindSchema& schema, const Json& object) const {
  return std::all_of(
      requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        return (schema.field_value(object, requirement.field) == requirement.value) ==
               requirement.equal;
      });
}

const std::string* FieldSelector::required_value(std::string_view field) const {
  for (const Requirement& requirement : requirements_) {
    if (requirement.equal && requirement.field == field) return &requirement.value;
  }
  return nullptr;
}

}  // namespace krater::api
