#include "api/machinery/patch.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = std::size_t{3} << 20;

Error refused(std::string why) {
  Error error =
      make_error(Code::Invalid, "the server rejected our request due to an error in our request");
  error.causes.push_back({"UnexpectedServerResponse", std::move(why), {}});
  return error;
}

struct Pointer {
  std::vector<std::string> steps;

  static Result<Pointer> parse(std::string_view text) {
    Pointer out;
    if (text.empty()) return out;
    if (text.front() != '/') return refused("invalid JSON pointer: \"" + std::string(text) + '"');
    for (std::string_view raw : split(text.substr(1), '/')) {
      std::string step;
      for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '~') {
          step += raw[i];
        } else if (i + 1 < raw.size() && (raw[i + 1] == '0' || raw[i + 1] == '1')) {
          step += raw[++i] == '0' ? '~' : '/';
        } else {
          return refused("invalid JSON pointer: \"" + std::string(text) + '"');
        }
      }
      out.steps.push_back(std::move(step));
    }
    return out;
  }
  bool is_prefix_of(const Pointer& other) const {
    return steps.size() < other.steps.size() &&
           std::equal(steps.begin(), steps.end(), other.steps.begin());
  }
  std::string text() const {
    std::string out;
    for (const std::string& step : steps) out += '/' + step;
    return out;
  }
};

// Position in a list; `end` is legal only where something is added.
std::optional<std::size_t> list_index(std::string_view step, std::size_t size, bool adding) {
  if (adding && step == "-") return size;
  if (step.empty() || (step.size() > 1 && step.front() == '0')) return std::nullopt;
  const auto number = parse_int(step);
  if (!number || *number < 0) return std::nullopt;
  const auto index = static_cast<std::size_t>(*number);
  return index < size || (adding && index == size) ? std::optional(index) : std::nullopt;
}

Json* child(Json& at, const std::string& step) {
  if (JsonObject* object = at.if_object()) return object->if_contains(step);
  if (JsonArray* array = at.if_array()) {
    const auto index = list_index(step, array->size(), false);
    return index ? &(*array)[*index] : nullptr;
  }
  return nullptr;
}

// Where the steps but the last `skip` lead.
Json* resolve(Json& root, const Pointer& pointer, std::size_t skip) {
  Json* at = &root;
  for (std::size_t i = 0; i + skip < pointer.steps.size() && at != nullptr; ++i)
    at = child(*at, pointer.steps[i]);
  return at;
}

Result<void> add(Json& root, const Pointer& pointer, Json value) {
  if (pointer.steps.empty()) {
    root = std::move(value);
    return {};
  }
  Json* parent = resolve(root, pointer, 1);
  const std::string& last = pointer.steps.back();
  if (parent != nullptr && parent->is_object()) {
    parent->get_object()[last] = std::move(value);
    return {};
  }
  if (parent != nullptr && parent->is_array()) {
    JsonArray& list = parent->get_array();
    if (const auto index = list_index(last, list.size(), true)) {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
      return {};
    }
  }
  return refused("add operation does not apply: doc is missing path: \"" + pointer.text() +
                 "\": missing value");
}

Result<Json> take(Json& root, const Pointer& pointer, std::string_view operation) {
  Json* parent = pointer.steps.empty() ? nullptr : resolve(root, pointer, 1);
  Json* target = parent == nullptr ? nullptr : child(*parent, pointer.steps.back());
  if (target == nullptr) {
    return refused(std::string(operation) + " operation does not apply: doc is missing path: \"" +
                   pointer.text() + "\": missing value");
  }
  Json value = std::move(*target);
  if (JsonObject* object = parent->if_object()) {
    object->stable_erase(pointer.steps.back());
  } else {
    JsonArray& list = parent->get_array();
    list.erase(list.begin() +
               static_cast<std::ptrdiff_t>(*list_index(pointer.steps.back(), list.size(), false)));
  }
  return value;
}

Result<void> replace(Json& root, const Pointer& pointer, Json value) {
  Json* parent = pointer.steps.empty() ? nullptr : resolve(root, pointer, 1);
  if (parent != nullptr && parent->is_object()) return add(root, pointer, std::move(value));
  Json* target = resolve(root, pointer, 0);
  if (target == nullptr) {
    return refused("replace operation does not apply: doc is missing path: \"" + pointer.text() +
                   "\": missing value");
  }
  *target = std::move(value);
  return {};
}

Result<void> copy(Json& root, const Pointer& from, const Pointer& to, std::size_t& copied) {
  const Json* source = resolve(root, from, 0);
  if (source == nullptr) {
    return refused("copy operation does not apply: doc is missing from path: \"" + from.text() +
                   "\": missing value");
  }
  copied += to_json(*source).size();
  if (copied > kMaxCopiedBytes) {
    return make_error(Code::TooLarge,
                      "Unable to complete the copy, the accumulated size increase of copy is " +
                          std::to_string(copied) + ", exceeding the limit " +
                          std::to_string(kMaxCopiedBytes));
  }
  return add(root, to, Json(*source));
}

Result<void> move(Json& root, const Pointer& from, const Pointer& to) {
  if (from.is_prefix_of(to))
    return refused("move operation does not apply: cannot move a value into itself");
  TRY_ASSIGN(Json value, take(root, from, "move"));
  return add(root, to, std::move(value));
}

Result<void> test(Json& root, const Pointer& pointer, const Json& wanted) {
  const Json* value = resolve(root, pointer, 0);
  // null tests for absence too.
  if (value == nullptr ? wanted.is_null() : *value == wanted) return {};
  return refused("testing path " + pointer.text() + " failed");
}

// `copied`: bytes that copies have added so far.
Result<void> apply(Json& root, const Json& operation, std::size_t& copied) {
  const auto name = string_at(operation, {"op"});
  const auto path = string_at(operation, {"path"});
  if (!name || !path)
    return make_error(Code::BadRequest, "every JSON patch operation needs \"op\" and \"path\"");
  TRY_ASSIGN(const Pointer pointer, Pointer::parse(*path));
  if (*name == "remove") {
    TRY(take(root, pointer, "remove"));
    return {};
  }
  if (*name == "move" || *name == "copy") {
    const auto source = string_at(operation, {"from"});
    if (!source)
      return make_error(Code::BadRequest,
                        "a JSON patch operation \"" + std::string(*name) + "\" needs \"from\"");
    TRY_ASSIGN(const Pointer from, Pointer::parse(*source));
    return *name == "move" ? move(root, from, pointer) : copy(root, from, pointer, copied);
  }
  const Json* value = find(operation, {"value"});
  if (*name == "test") return test(root, pointer, value == nullptr ? Json() : *value);
  if (*name != "add" && *name != "replace") {
    return make_error(Code::BadRequest,
                      "unexpected JSON patch operation \"" + std::string(*name) + '"');
  }
  if (value == nullptr)
    return make_error(Code::BadRequest,
                      "a JSON patch operation \"" + std::string(*name) + "\" needs \"value\"");
  return *name == "add" ? add(root, pointer, *value) : replace(root, pointer, *value);
}

}  // namespace

Result<void> json_patch(Json& target, const Json& patch) {
  const JsonArray* operations = patch.if_array();
  if (operations == nullptr)
    return make_error(Code::BadRequest, "a JSON patch is a list of operations");
  if (operations->size() > kMaxOperations) {
    return make_error(Code::TooLarge,
                      "The allowed maximum operations in a JSON patch is 10000, got " +
                          std::to_string(operations->size()));
  }
  std::size_t copied = 0;
  for (const Json& operation : *operations) TRY(apply(target, operation, copied));
  return {};
}

}  // namespace krater::api
