#include "api/admission/volcano_job_shape.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

namespace krater::api {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Whose keys are the user's words: no value of them is left out.
constexpr std::array<std::string_view, 5> kMaps{"labels", "annotations", "matchLabels",
                                                "nodeSelector", "plugins"};
constexpr std::array<std::string_view, 3> kAmounts{"requests", "limits", "overhead"};
// Structs that are always written, also when nothing is in them.
constexpr std::array<std::string_view, 4> kStructs{"resources", "metadata", "template", "spec"};
// "" or 0 or false there is the same as nothing: they are no pointers.
constexpr std::array<std::string_view, 1> kEmptyMeansSomething{"storageClassName"};
constexpr std::array<std::string_view, 7> kPlainFlags{"hostNetwork", "hostPID", "hostIPC", "stdin",
                                                      "stdinOnce",   "tty",     "readOnly"};
constexpr std::array<std::string_view, 7> kPlainNumbers{
    "hostPort",         "initialDelaySeconds", "timeoutSeconds", "periodSeconds",
    "successThreshold", "failureThreshold",    "maxRetry"};

Json shape(std::string_view name, const Json& value);

// In the one spelling there is of it; what is no quantity stays as it is.
Json amount(const Json& value) {
  std::string text;
  if (value.is_string())
    text = std::string(view(value.get_string()));
  else if (value.is_number())
    text = to_json(value);
  const Result<Quantity> parsed = Quantity::parse(text);
  return parsed ? Json(parsed->text()) : value;
}

bool is_nothing(std::string_view name, const Json& value) {
  if (value.is_null()) return true;
  if (const JsonArray* list = value.if_array()) return list->empty();
  if (value.is_string())
    return value.get_string().empty() && !is_one_of(kEmptyMeansSomething, name);
  if (value.is_bool()) return !value.get_bool() && is_one_of(kPlainFlags, name);
  if (const auto number = as_int(value)) return *number == 0 && is_one_of(kPlainNumbers, name);
  if (const JsonObject* object = value.if_object()) {
    return object->empty() &&
           (is_one_of(kStructs, name) || is_one_of(kMaps, name) || is_one_of(kAmounts, name));
  }
  return false;
}

Json shape_of_object(std::string_view name, const JsonObject& object) {
  JsonObject out;
  for (const auto& entry : object) {
    const std::string_view key(entry.key().data(), entry.key().size());
    if (is_one_of(kMaps, name)) {
      // A plugin without arguments is one all the same.
      out[key] = name == "plugins" && entry.value().is_null() ? Json(JsonArray()) : entry.value();
      continue;
    }
    if (is_one_of(kAmounts, name)) {
      out[key] = amount(entry.value());
      continue;
    }
    Json value = shape(key, entry.value());
    if (!is_nothing(key, value)) out[key] = std::move(value);
  }
  return out;
}

Json shape(std::string_view name, const Json& value) {
  if (const JsonObject* object = value.if_object()) return shape_of_object(name, *object);
  if (const JsonArray* list = value.if_array()) {
    JsonArray out;
    for (const Json& item : *list) out.push_back(shape({}, item));
    return out;
  }
  if (name == "sizeLimit") return amount(value);
  if (name == "divisor") {
    const Json text = amount(value);
    return text == Json("0") ? Json(nullptr) : text;
  }
  if (name == "timeout" && value.is_string()) {
    if (const auto time = parse_go_duration(view(value.get_string()))) return Json(time->count());
  }
  return value;
}

}  // namespace

Json volcano_job_shape(const Json& spec) {
  return shape({}, spec);
}

}  // namespace krater::api
