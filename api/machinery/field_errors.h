// Collects the causes of a 422, worded as Kubernetes words them. The message of a cause does not
// repeat the field; Status.message is made of `<field>: <message>`.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/field_path.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

class FieldErrors {
 public:
  void required(const FieldPath& path, std::string_view detail = {});
  // `value` is shown as JSON.
  void invalid(const FieldPath& path, const Json& value, std::string_view detail);
  void invalid_type(const FieldPath& path, std::string_view value_type, std::string_view detail);
  void unsupported(const FieldPath& path, std::string_view value,
                   const std::vector<std::string>& supported);
  void duplicate(const FieldPath& path, const Json& value);
  void forbidden(const FieldPath& path, std::string_view detail);
  void too_long(const FieldPath& path, std::int64_t max_bytes);
  void too_many(const FieldPath& path, std::int64_t count, std::int64_t max_items);
  void not_found(const FieldPath& path, const Json& value);

  void append(std::vector<Cause> more);

  // Takes back what a wider view shows to be no mistake.
  void forgive(const std::function<bool(const Cause&)>& is_no_mistake);

  bool empty() const { return causes_.empty(); }
  std::vector<Cause> take() { return std::move(causes_); }

 private:
  void add(const FieldPath& path, std::string_view reason, std::string message);

  std::vector<Cause> causes_;
};

}  // namespace krater::api
