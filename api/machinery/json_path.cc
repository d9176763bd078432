#include "api/machinery/json_path.h"

#include "base/strings.h"

namespace krater::api {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? std::string(view(value.get_string())) : to_json(value);
}

std::string_view unquote(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// A field name up to the next '.' or '['; `\.` is a dot of the name.
std::string take_name(std::string_view text, std::size_t& at) {
  std::string name;
  for (; at < text.size() && text[at] != '.' && text[at] != '['; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    name += text[at];
  }
  return name;
}

// The matching ']' of the '[' at `open`, outside quotes.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  char quote = 0;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == ']') {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<CellPath::Step> CellPath::bracket(std::string_view inside) {
  Step step;
  inside = trim(inside);
  if (inside == "*") {
    step.kind = Step::Kind::Any;
    return step;
  }
  if (const auto number = parse_int(inside)) {
    step.kind = Step::Kind::Index;
    step.index = *number;
    return step;
  }
  if (inside.substr(0, 2) == "?(" && inside.back() == ')') {
    const std::string_view test = inside.substr(2, inside.size() - 3);
    const auto equals = test.find("==");
    if (equals == std::string_view::npos)
      return make_error(Code::Invalid, "unsupported filter in JSONPath");
    const std::string_view left = trim(test.substr(0, equals));
    if (left.substr(0, 2) != "@.")
      return make_error(Code::Invalid, "unsupported filter in JSONPath");
    step.kind = Step::Kind::Filter;
    for (std::string_view part : split(left.substr(2), '.')) step.where.emplace_back(part);
    step.equals = unquote(test.substr(equals + 2));
    return step;
  }
  step.name = unquote(inside);
  if (step.name == inside) return make_error(Code::Invalid, "unsupported step in JSONPath");
  return step;
}

Result<CellPath> CellPath::compile(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}')
    text = text.substr(1, text.size() - 2);
  if (!text.empty() && text.front() == '$') text.remove_prefix(1);
  CellPath path;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      const std::size_t close = closing_bracket(text, at);
      if (close == std::string_view::npos)
        return make_error(Code::Invalid, "unterminated [ in JSONPath");
      TRY_ASSIGN(Step step, bracket(text.substr(at + 1, close - at - 1)));
      path.steps_.push_back(std::move(step));
      at = close + 1;
      continue;
    }
    if (text[at] == '.') ++at;
    Step step;
    step.name = take_name(text, at);
    if (step.name.empty()) return make_error(Code::Invalid, "empty step in JSONPath");
    if (step.name == "*") step.kind = Step::Kind::Any;
    path.steps_.push_back(std::move(step));
  }
  if (path.steps_.empty()) return make_error(Code::Invalid, "empty JSONPath");
  return path;
}

const Json* CellPath::walk(const Json& at, const std::vector<Step>& steps, std::size_t next) {
  if (next == steps.size()) return &at;
  const Step& step = steps[next];
  if (step.kind == Step::Kind::Field) {
    const JsonObject* fields = at.if_object();
    const Json* child = fields == nullptr ? nullptr : fields->if_contains(step.name);
    return child == nullptr ? nullptr : walk(*child, steps, next + 1);
  }
  const JsonArray* items = at.if_array();
  if (items == nullptr) return nullptr;
  if (step.kind == Step::Kind::Index) {
    const auto size = static_cast<std::int64_t>(items->size());
    const std::int64_t index = step.index < 0 ? size + step.index : step.index;
    return index < 0 || index >= size
               ? nullptr
               : walk((*items)[static_cast<std::size_t>(index)], steps, next + 1);
  }
  for (const Json& item : *items) {
    if (step.kind == Step::Kind::Filter) {
      const Json* left = &item;
      for (const std::string& name : step.where) {
        left = left->is_object() ? left->get_object().if_contains(name) : nullptr;
        if (left == nullptr) break;
      }
      if (left == nullptr || text_of(*left) != step.equals) continue;
    }
    if (const Json* found = walk(item, steps, next + 1)) return found;
  }
  return nullptr;
}

const Json* CellPath::first(const Json& object) const {
  return walk(object, steps_, 0);
}

Json CellPath::cell(const Json& object, std::string_view type, WallTime now) const {
  const Json* value = first(object);
  if (value == nullptr || value->is_null()) return Json();
  if (type == "integer")
    return value->is_number() && as_int(*value) ? Json(*as_int(*value)) : Json();
  if (type == "number") return value->is_number() ? *value : Json();
  if (type == "boolean") return value->is_bool() ? *value : Json();
  if (type != "date") return Json(text_of(*value));
  const auto time = value->is_string() ? parse_rfc3339(view(value->get_string())) : std::nullopt;
  return time ? Json(human_duration(now - *time)) : Json("<invalid>");
}

}  // namespace krater::api
