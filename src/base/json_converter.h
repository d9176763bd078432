// From simdjson's tree to ours. For src/base/json*.cc alone.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"

namespace krater {

// Converts simdjson's read-only tree; recursion is bounded by options.max_depth.
class Converter {
 public:
  explicit Converter(const JsonParseOptions& options) : options_(options) {}

  Result<Json> convert(simdjson::dom::element element, int depth) {
    using Type = simdjson::dom::element_type;
    switch (element.type()) {
      case Type::OBJECT:
        return object(element.get_object().value_unsafe(), depth);
      case Type::ARRAY:
        return array(element.get_array().value_unsafe(), depth);
      case Type::STRING:
        return Json(std::string_view(element.get_string().value_unsafe()));
      case Type::INT64:
        return Json(element.get_int64().value_unsafe());
      case Type::UINT64:
        return Json(element.get_uint64().value_unsafe());
      case Type::DOUBLE:
        return Json(element.get_double().value_unsafe());
      case Type::BOOL:
        return Json(element.get_bool().value_unsafe());
      case Type::NULL_VALUE:
        return Json(nullptr);
    }
    return make_error(Code::Internal, "unexpected JSON element");
  }

 private:
  Result<Json> object(simdjson::dom::object source, int depth) {
    TRY(check_depth(depth));
    Json out(boost::json::object_kind);
    JsonObject& target = out.get_object();
    target.reserve(source.size());
    for (const auto& [key, element] : source) {
      const std::size_t mark = path_.size();
      if (options_.duplicates != nullptr) {
        if (!path_.empty()) path_ += '.';
        path_ += key;
      }
      TRY_ASSIGN(Json child, convert(element, depth + 1));
      const auto [place, inserted] = target.insert_or_assign(key, std::move(child));
      if (!inserted && options_.duplicates != nullptr) options_.duplicates->push_back(path_);
      path_.resize(mark);
    }
    return out;
  }

  Result<Json> array(simdjson::dom::array source, int depth) {
    TRY(check_depth(depth));
    Json out(boost::json::array_kind);
    JsonArray& target = out.get_array();
    target.reserve(source.size());
    std::size_t index = 0;
    for (simdjson::dom::element element : source) {
      const std::size_t mark = path_.size();
      if (options_.duplicates != nullptr) path_ += '[' + std::to_string(index) + ']';
      TRY_ASSIGN(Json child, convert(element, depth + 1));
      target.push_back(std::move(child));
      path_.resize(mark);
      ++index;
    }
    return out;
  }

  Result<void> check_depth(int depth) const {
    if (depth >= options_.max_depth) return make_error(Code::BadRequest, "exceeded max depth");
    return {};
  }

  const JsonParseOptions& options_;
  std::string path_;
};

// Parses `text` and gives the root to `use`, which answers a Result. One parser a thread: its
// buffers are reused, and trimmed again after an unusually large document. `use` must not parse.
// Code::BadRequest for what is no JSON.
template <typename Use>
auto with_parsed(std::string_view text, Use use) -> decltype(use(simdjson::dom::element())) {
  // More than the converter accepts: the parser does not count a container that is empty.
  constexpr std::size_t kMaxDepth = 10'000;
  constexpr std::size_t kKeepCapacity = 1 << 20;
  thread_local simdjson::dom::parser parser;
  const simdjson::error_code allocated =
      parser.allocate(std::max<std::size_t>(text.size(), 1), kMaxDepth);
  if (allocated != simdjson::SUCCESS)
    return make_error(Code::Internal, simdjson::error_message(allocated));
  const auto parsed = parser.parse(text.data(), text.size(), /*realloc_if_needed=*/true);
  if (parsed.error() != simdjson::SUCCESS) {
    return make_error(Code::BadRequest,
                      std::string("invalid JSON: ") + simdjson::error_message(parsed.error()));
  }
  auto out = use(parsed.value_unsafe());
  if (text.size() > kKeepCapacity) parser = simdjson::dom::parser();
  return out;
}

}  // namespace krater
